import type { Sql } from "../../../shared/platform/db/sql_client.ts";

/** Long enough for the referee to find it, and shorter than a lease. */
const HELD_FETCH_SECONDS = 1;

/**
 * Sets up a witness in the database, independent of the code under test: it records every write and
 * every end of an older epoch that passes the fence, every result that is written twice,
 * every task that ends twice, every wake-up, every hand-over and every fetch of a handed task.
 *
 * A fetch of a worker in `witness.held_fetches` waits, so that its connection can be cut during it.
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
      execute function witness.see_task();

    create table witness.hand_overs (
      task_id uuid not null, worker_id text not null, at timestamptz default clock_timestamp()
    );
    create table witness.fetches (task_id uuid not null, worker_id text not null, epoch bigint not null);
    create table witness.held_fetches (worker_id text primary key);

    alter function private.hand_over(public.tasks) rename to hand_over_unseen;
    create function private.hand_over(p_task public.tasks)
    returns void language plpgsql set search_path = '' as $$
    begin
      insert into witness.hand_overs (task_id, worker_id) values (p_task.id, p_task.worker_id);
      perform private.hand_over_unseen(p_task);
    end $$;

    alter function private.fetch_handed(text) rename to fetch_handed_unseen;
    create function private.fetch_handed(p_worker_id text)
    returns table (task_id uuid, epoch bigint, context json)
    language plpgsql set search_path = '' as $$
    declare
      v_fetched record;
    begin
      for v_fetched in select * from private.fetch_handed_unseen(p_worker_id) loop
        insert into witness.fetches (task_id, worker_id, epoch)
        values (v_fetched.task_id, p_worker_id, v_fetched.epoch);
        if exists (select from witness.held_fetches as held where held.worker_id = p_worker_id) then
          perform pg_sleep(${HELD_FETCH_SECONDS});
        end if;
        return query select v_fetched.task_id, v_fetched.epoch, v_fetched.context;
      end loop;
    end $$;`).simple();
}
