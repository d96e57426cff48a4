import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import type { TableChange } from "./change_data.ts";
import type { ChangeHub, ChangeSubscriber } from "./change_hub.ts";
import { authorizeChanges, type Deliveries } from "./authorize_changes.ts";
import { encodeFrame } from "./frames.ts";
import { wireTopic } from "./topic_hub.ts";

/** Dependencies of {@linkcode ChangeFeed}. */
export interface ChangeFeedOptions {
  readonly sql: Sql;
  readonly hub: ChangeHub;
  readonly log: Logger;
}

interface ChangeRow {
  readonly id: string;
  readonly schema_name: string;
  readonly table_name: string;
  readonly operation: TableChange["type"];
  readonly record: JsonObject | null;
  readonly old_record: JsonObject | null;
  readonly columns: TableChange["columns"];
  readonly committed_at: string;
}

const BATCH = 200;
const RETRY_MS = 250;

/**
 * Sends recorded changes of published tables to their subscribers in order, and deletes them. A
 * notification carries no data, so the feed reads all existing rows, batch by batch.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  #isWoken = false;
  #isStopped = false;
  #working: Promise<void> | null = null;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** Starts to deliver changes, if there are any. */
  wake(): void {
    this.#isWoken = true;
    this.#working ??= this.#work();
  }

  /** Stops sending. Resolves when the current batch is done. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false;
      try {
        await this.#deliverBatch();
      } catch (error) {
        // The database is unreachable. The changes stay in the table.
        const message = error instanceof Error ? error.message : String(error);
        this.#options.log("warn", "realtime.changes_unreadable", { message });
        this.#isWoken = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#working = null;
  }

  async #deliverBatch(): Promise<void> {
    const { sql, hub } = this.#options;
    const rows = await sql<ChangeRow[]>`
      select
        id, schema_name, table_name, operation, record, old_record, columns,
        to_char(commit_timestamp at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          as committed_at
      from realtime.stack_changes
      order by id
      limit ${BATCH}`;
    if (rows.length === 0) return;
    const deliveries = await authorizeChanges(sql, hub, rows.map(toChange));
    // Delete before sending: a crash can then lose a change, but never send it twice.
    const ids = JSON.stringify(rows.map(({ id }) => id));
    await sql`
      delete from realtime.stack_changes
      where id in (
        select value::bigint from jsonb_array_elements_text(${ids}::text::jsonb))`;
    this.#isWoken ||= rows.length === BATCH;
    for (const each of deliveries) send(each);
  }
}

/** Sends one message per channel and data, with the ids of all its bindings. */
function send(deliveries: Deliveries): void {
  const messages = new Map<ChangeSubscriber, Map<JsonObject, number[]>>();
  for (const { subscription: { id, subscriber }, data } of deliveries) {
    const byData = messages.get(subscriber) ?? new Map<JsonObject, number[]>();
    byData.set(data, [...byData.get(data) ?? [], id]);
    messages.set(subscriber, byData);
  }
  for (const [subscriber, byData] of messages) {
    for (const [data, ids] of byData) {
      const topic = wireTopic(subscriber.topic);
      const frame = { joinRef: null, ref: null, topic, event: "postgres_changes" };
      subscriber.send(encodeFrame({ ...frame, payload: { ids, data } }, subscriber.version));
    }
  }
}

function toChange(row: ChangeRow): TableChange {
  return {
    schema: row.schema_name,
    table: row.table_name,
    type: row.operation,
    committedAt: row.committed_at,
    columns: row.columns,
    record: row.record,
    oldRecord: row.old_record,
  };
}
