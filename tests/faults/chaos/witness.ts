import type { Sql } from "../../../shared/platform/db/sql_client.ts";

/**
 * Sets up a witness in the database, independent of the code under test: it records every write and
 * every end of an older epoch that passes the fence, every result that is written twice,
 * every task that ends twice, and every wake-up of a parent.
 */
export async function setUpWitness(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create schema witness;
    create table witness.sightings (
      what text not null, task_id uuid not null, seq int, at timestamptz default clock_timestamp()
    );

    alter function private.hold_task(uuid, bigint, int) rename to hold_task_unseen;
    create function private.hold_task(p_task_id uuid, p_epoch bigint, p_lease_seconds int)
    returns public.tasks language plpgsql set search_path = '' as $$
    declare
      v_task public.tasks := private.hold_task_unseen(p_task_id, p_epoch, p_lease_seconds);
    begin
      if v_task.epoch <> p_epoch then
        insert into witness.sightings (what, task_id) values ('stale write', p_task_id);
      end if;
      return v_task;
    end $$;

    alter function private.finish_tasks(jsonb) rename to finish_tasks_unseen;
    create function private.finish_tasks(p_finishes jsonb)
    returns table (task_id uuid, epoch bigint, status text)
    language plpgsql set search_path = '' as $$
    declare
      v_answer record;
    begin
      for v_answer in select * from private.finish_tasks_unseen(p_finishes) loop
        insert into witness.sightings (what, task_id)
        select 'stale write', task.id
        from public.tasks as task
        where v_answer.status <> 'lost' and task.id = v_answer.task_id and task.epoch <> v_answer.epoch;
        return query select v_answer.task_id, v_answer.epoch, v_answer.status;
      end loop;
    end $$;

    create function witness.see_step() returns trigger
    language plpgsql security definer set search_path = '' as $$
    begin
      insert into witness.sightings (what, task_id, seq)
      values ('second result', new.task_id, new.seq);
      return null;
    end $$;
    create trigger witness after update on public.task_steps for each row
      when (old.state <> 'started' and (old.state, old.output) is distinct from (new.state, new.output))
      execute function witness.see_step();

    create function witness.see_task() returns trigger
    language plpgsql security definer set search_path = '' as $$
    begin
      insert into witness.sightings (what, task_id)
      values (case when old.status = 'pending_subtask' then 'wake' else 'second end' end, new.id);
      return null;
    end $$;
    create trigger witness after update on public.tasks for each row
      when (
        (old.status = 'pending_subtask' and new.status in ('pending', 'running'))
        or (old.finished_at is not null and new.status <> old.status)
      )
      execute function witness.see_task();`).simple();
}
