import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";

/** A broadcast from the database. */
export interface StoredMessage {
  readonly id: string;
  /** The topic without `realtime:`. */
  readonly topic: string;
  readonly isPrivate: boolean;
  readonly event: string;
  readonly payload: JsonValue | Uint8Array;
}

/** The id of a message and when it was written (milliseconds since 1970). */
export interface WrittenMessage {
  readonly id: string;
  readonly writtenAtMs: number;
}

interface MessageRow {
  readonly id: string;
  readonly topic: string;
  readonly private: boolean | null;
  readonly event: string | null;
  readonly payload: JsonValue;
  readonly binary_payload: Uint8Array | null;
}

/** Messages are kept this long, as on a hosted project. */
const RETENTION_HOURS = 72;

/** Reads messages by id, in any order. */
export async function readMessages(sql: Sql, ids: readonly string[]): Promise<StoredMessage[]> {
  const rows = await sql<MessageRow[]>`
    select id, topic, private, event, payload, binary_payload
    from realtime.messages
    where extension = 'broadcast'
      and id in (
        select value::uuid from jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb))`;
  return rows.map((row) => ({
    id: row.id,
    topic: row.topic,
    isPrivate: row.private ?? false,
    event: row.event ?? "",
    payload: row.binary_payload ?? row.payload,
  }));
}

/**
 * Lists the messages of the last `windowSeconds`, oldest first. Messages of one transaction have
 * the same time and are sorted by their position in the table.
 */
export async function listRecentMessages(
  sql: Sql,
  windowSeconds: number,
): Promise<WrittenMessage[]> {
  const rows = await sql<{ id: string; age_ms: number }[]>`
    select id, (extract(epoch from now()::timestamp - inserted_at) * 1000)::float8 as age_ms
    from realtime.messages
    where extension = 'broadcast'
      and inserted_at > now()::timestamp - make_interval(secs => ${windowSeconds})
    order by inserted_at, tableoid, ctid`;
  const now = Date.now();
  return rows.map(({ id, age_ms }) => ({ id, writtenAtMs: now - age_ms }));
}

/**
 * Reads a private channel's newest messages since then, oldest first, in the format for clients.
 */
export async function replayMessages(
  sql: Sql,
  topic: string,
  range: { readonly sinceMs: number; readonly limit: number },
): Promise<{ event: string; payload: JsonValue; meta: { id: string; replayed: true } }[]> {
  const rows = await sql<{ id: string; event: string | null; payload: JsonValue }[]>`
    select id, event, payload
    from realtime.messages
    where topic = ${topic}
      and extension = 'broadcast'
      and private is true
      and binary_payload is null
      and inserted_at > to_timestamp(${range.sinceMs / 1000})::timestamp
    order by inserted_at desc, tableoid desc, ctid desc
    limit ${range.limit}`;
  return rows.toReversed().map(({ id, event, payload }) => ({
    event: event ?? "",
    payload,
    meta: { id, replayed: true },
  }));
}

/** Deletes messages that are older than the retention period. */
export async function deleteOldMessages(sql: Sql): Promise<void> {
  await sql`
    delete from realtime.messages
    where inserted_at < now()::timestamp - make_interval(hours => ${RETENTION_HOURS})`;
}
