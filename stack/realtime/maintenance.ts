import type { Sql } from "../../shared/db/sql_client.ts";
import { pruneMessages } from "./stored_messages.ts";

/**
 * Deletes old messages and reclaims the space of what was delivered: the embedded server has no
 * autovacuum, and these tables are written and emptied all the time.
 */
export async function maintainTables(sql: Sql): Promise<void> {
  await pruneMessages(sql);
  await sql`vacuum realtime.messages, realtime.stack_changes, realtime.subscription`.simple();
}
