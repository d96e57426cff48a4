import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonValue } from "../../platform/values/json.ts";

type Args = Readonly<Record<string, unknown>>;

/** The database functions that a chat calls as its user, with their arguments. */
export const CHAT_CALLS = {
  find_chat: (sql, { p_chat_id, p_with_messages }) =>
    sql`
      select public.find_chat(
        p_chat_id => ${String(p_chat_id)},
        p_with_messages => ${p_with_messages === true}
      ) as value`,
  continue_task: (sql, { p_task_id, p_input, p_after_step }) =>
    sql`
      select public.continue_task(
        p_task_id => ${String(p_task_id)}::uuid,
        p_input => ${json(sql, p_input)},
        p_after_step => ${Number(p_after_step)}::int
      ) as value`,
  fork_task: (sql, { p_task_id, p_from_seq, p_changes }) =>
    sql`
      select public.fork_task(
        p_task_id => ${String(p_task_id)}::uuid,
        p_from_seq => ${Number(p_from_seq)}::int,
        p_changes => ${json(sql, p_changes)}
      ) as value`,
  cancel_task: (sql, { p_master_task_id }) =>
    sql`select public.cancel_task(p_master_task_id => ${String(p_master_task_id)}::uuid) as value`,
  respond_to_review: (sql, { p_task_id, p_approved, p_response, p_comments, p_seq }) =>
    sql`
      select public.respond_to_review(
        p_task_id => ${String(p_task_id)}::uuid,
        p_approved => ${p_approved === true},
        p_response => ${json(sql, p_response)},
        p_comments => ${typeof p_comments === "string" ? p_comments : null},
        p_seq => ${Number(p_seq)}::int
      ) as value`,
  watch_task: (sql, { p_task_id }) =>
    sql`select public.watch_task(p_task_id => ${String(p_task_id)}::uuid) as value`,
  read_answer: (sql, { p_task_id }) =>
    sql`select public.read_answer(p_task_id => ${String(p_task_id)}::uuid) as value`,
  read_events: (sql, { p_task_id, p_cursor, p_limit, p_max_data_bytes }) =>
    sql`
      select public.read_events(
        p_task_id => ${String(p_task_id)}::uuid,
        p_cursor => ${typeof p_cursor === "string" ? p_cursor : null},
        p_limit => ${Number(p_limit)}::int,
        p_max_data_bytes => ${Number(p_max_data_bytes)}::int
      ) as value`,
} satisfies Record<string, (sql: TransactionSql, args: Args) => PromiseLike<unknown>>;

/** The name of a database function that a chat calls. */
export type ChatCall = keyof typeof CHAT_CALLS;

/** Whether a chat calls the function. */
export function isChatCall(name: string): name is ChatCall {
  return Object.hasOwn(CHAT_CALLS, name);
}

function json(sql: TransactionSql, value: unknown) {
  return value === null || value === undefined ? null : sql.json(value as JsonValue);
}
