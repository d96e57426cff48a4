import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { applyMigrations } from "../../stack/migrations/apply_migrations.ts";

/** A database with the product's migrations and nothing of the platform running beside it. */
export interface QueueDatabase extends AsyncDisposable {
  /** As role `postgres`. */
  readonly url: string;
  readonly sql: Sql;
  /** Empties what the last measurement left, and lets the planner see it. */
  reset(): Promise<void>;
  /** After it the server writes each page that changes to the WAL as a whole, once. */
  checkpoint(): Promise<void>;
}

/** The agent of every task here. */
export const AGENT = "bench";

/**
 * Opens one for benchmarks of the queue itself.
 *
 * The embedded Realtime server is notified of each message by NOTIFY, and of each change of a
 * published table by a trigger; a hosted one reads the WAL. Those triggers are disabled here,
 * because hosted projects do not have them.
 *
 * @param db `native` or a URL of an empty server.
 */
export async function openQueueDatabase(db: string): Promise<QueueDatabase> {
  const database = await openDatabase({
    db,
    dataDir: "",
    ephemeral: true,
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
    // Wakes are sent as in production; nobody reads the requests.
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
 * The partitions of today and tomorrow, which Realtime makes on a hosted project while clients connect;
 * the embedded stack has one for all days. Without the trigger that tells its Realtime server.
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
