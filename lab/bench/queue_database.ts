import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { applyMigrations } from "../../stack/migrations/apply_migrations.ts";

/** A database with the product's migrations but without the running platform. */
export interface QueueDatabase extends AsyncDisposable {
  /** A connection as role `postgres`. */
  readonly url: string;
  readonly sql: Sql;
  /** A connection as `supabase_admin`. */
  readonly admin: Sql;
  /** Deletes the data of the last measurement and updates the statistics. */
  reset(): Promise<void>;
  /** After a checkpoint, the server writes each changed page once completely to the WAL. */
  checkpoint(): Promise<void>;
}

/** The agent of every task. */
export const AGENT = "bench";

/**
 * Opens a database for benchmarks of the queue itself.
 *
 * The embedded Realtime server gets a NOTIFY for each message, and uses a trigger for each change
 * of a published table. A hosted one reads the WAL. So those triggers are disabled here.
 *
 * @param db `native` or a URL of an empty server.
 */
export async function openQueueDatabase(db: string): Promise<QueueDatabase> {
  const database = await openDatabase({
    db,
    dataDir: null,
    syncsWrites: true,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  const admin = createSql(database.adminUrl, { maxConnections: 1, applicationName: "bench" });
  const sql = createSql(database.url, { maxConnections: 16, applicationName: "bench" });
  const stop = async () => {
    await Promise.all([sql.end({ timeout: 1 }), admin.end({ timeout: 1 })]);
    await database.stop();
  };
  try {
    await applyMigrations(database, PROJECT_ROOT);
    await addRealtimePartitions(admin);
    await admin`alter table public.tasks disable trigger supaswarm_change_feed`;
    // Wake-ups are sent as in production, but nothing receives the requests.
    await sql`select private.configure_project_url('http://127.0.0.1:9')`;
    await sql`
      with provider as (
        insert into public.llm_providers (name, display_name, default_model, requires_api_key)
        values ('bench', 'Bench', 'bench', false)
        returning id
      )
      insert into public.agents (name, slug, system_prompt, provider_id)
      select 'Bench', ${AGENT}, 'You are timed.', provider.id from provider`;
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: database.url,
    sql,
    admin,
    async reset() {
      await sql`truncate public.tasks cascade`;
      await sql`delete from pgmq.q_agent_tasks`;
      await admin`truncate realtime.messages, net.http_request_queue`;
      await admin`vacuum analyze`;
    },
    async checkpoint() {
      await admin`checkpoint`;
    },
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Adds the partitions of today and tomorrow, which Realtime creates on a hosted project while
 * clients connect. The embedded stack has one for all days. Disables the trigger for its Realtime
 * server.
 */
async function addRealtimePartitions(admin: Sql): Promise<void> {
  await admin.unsafe(`
    do $$
    declare
      v_day date;
      v_name text;
    begin
      foreach v_day in array array[current_date, current_date + 1] loop
        v_name := 'messages_' || to_char(v_day, 'YYYY_MM_DD');
        execute format(
          'create table realtime.%I partition of realtime.messages for values from (%L) to (%L)', v_name, v_day, v_day + 1
        );
        execute format('alter table realtime.%I disable trigger user', v_name);
      end loop;
      alter table realtime.messages_default disable trigger user;
    end;
    $$`);
}
