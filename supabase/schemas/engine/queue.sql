-- The queue of tasks is the table of tasks: its waiting rows, in the lines of their owners. Here: who wakes.

-- Fires once per transaction: only the first of its new tasks queues the trigger. The setting that marks
-- this is local to the transaction, and a rollback to a savepoint undoes both the setting and the queued
-- trigger.
create constraint trigger tasks_wake_on_insert after insert on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.status = 'pending' and new.run_after is null and new.runner = '') is not true then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit('supaswarm-worker', 'supaswarm_tasks');

create constraint trigger tasks_wake_on_update after update of status on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.status = 'pending' and new.run_after is null and new.runner = '' and old.status <> 'pending') is not true then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit('supaswarm-worker', 'supaswarm_tasks');
