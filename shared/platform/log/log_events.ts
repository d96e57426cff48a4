/** A line that the functions may log. */
interface LogEventEntry {
  /** More than one where the line's cause decides. */
  readonly levels: readonly ("debug" | "info" | "warn" | "error")[];
  readonly happened: string;
  readonly fields: readonly string[];
  /** What an operator does. */
  readonly action: string;
}

const NOTHING = "Nothing.";
const TRIED_AGAIN = "Nothing: it is tried again. If it continues, look up the code.";
const OTHERS_CONTINUE = "Nothing: the lease ends, and another worker continues.";
const REPORT = "Report it: this is a fault of the platform.";
const TOOL_ROW = "Correct the row of `tools`.";

/**
 * Every event that the functions log. The logger accepts no other name, level or field, and
 * `deno task generate log-events` writes `docs/reference/log-events.md` from this list.
 */
export const LOG_EVENTS = {
  "database.without_tls": {
    levels: ["warn"],
    happened: "The isolate reaches the database without TLS, because it cannot verify the server.",
    fields: ["reason"],
    action: "On another network than the database's, set `sslmode` in the database URL.",
  },
  "export.failed": {
    levels: ["error"],
    happened: "The daily export of grades and failures wrote no files.",
    fields: ["code", "message"],
    action: "Look up the code; the next run exports the missing days.",
  },
  "export.written": {
    levels: ["info"],
    happened: "The daily export wrote its files to Storage.",
    fields: ["files"],
    action: NOTHING,
  },
  "function.not_started": {
    levels: ["error"],
    happened: "The function could not start and answers every request with this error.",
    fields: ["code", "message", "hint"],
    action: "Follow the hint, mostly an environment variable, and deploy again.",
  },
  "function.outdated": {
    levels: ["warn"],
    happened: "The database has a newer release than the function, which goes on.",
    fields: ["database", "function"],
    action: "Deploy the functions of the database's release.",
  },
  "isolate.stray_error": {
    levels: ["error"],
    happened: "An error was caught that belongs to no request or task. The isolate goes on.",
    fields: ["error"],
    action: REPORT,
  },
  "mcp.message_refused": {
    levels: ["info"],
    happened: "A message to the MCP endpoint does not follow the protocol.",
    fields: ["reason"],
    action: "If it is your client, compare it with the MCP reference.",
  },
  "mcp.server_left_out": {
    levels: ["warn"],
    happened: "A list of tools is without this server's, because the server did not answer.",
    fields: ["server", "code"],
    action: "Check the server; its connection row has the last error.",
  },
  "oauth.connected": {
    levels: ["info"],
    happened: "A user connected an own account at a tool server.",
    fields: ["server"],
    action: NOTHING,
  },
  "oauth.disconnected": {
    levels: ["info"],
    happened: "A user disconnected an own account; `is_revoked` says whether the server agreed.",
    fields: ["server", "is_revoked"],
    action: NOTHING,
  },
  "queue.stalled": {
    levels: ["warn"],
    happened: "Work waited for more than a second while nobody claimed it.",
    fields: ["worker_id", "stalled_ms"],
    action: "Look at wake-ups and at the workers' log from that time.",
  },
  "quoth.head_check_failed": {
    levels: ["warn"],
    happened: "A search could not request a check of the branch's head.",
    fields: ["project_id", "error"],
    action: TRIED_AGAIN,
  },
  "quoth.project_not_announced": {
    levels: ["warn"],
    happened: "The function could not store its own URL, which wake-ups need.",
    fields: ["code"],
    action: TRIED_AGAIN,
  },
  "quoth.sync_stopped": {
    levels: ["warn", "error"],
    happened: "A sync waits for another try, or failed (`error`).",
    fields: ["sync_id", "code", "status", "retry_after_seconds"],
    action: "If it failed, look up the code.",
  },
  "quoth.tree_compared": {
    levels: ["info"],
    happened: "A sync compared the branch's tree with the documents; `to_do` of them differ.",
    fields: ["sync_id", "commit", "files", "to_do"],
    action: NOTHING,
  },
  "request.refused": {
    levels: ["info", "error"],
    happened: "A request was answered with an error; `error` from status 500.",
    fields: ["request_id", "code", "status", "cause"],
    action: "Look up the code.",
  },
  "sql.tables_not_embedded": {
    levels: ["warn"],
    happened: "Tables were ordered for a question by their words alone.",
    fields: ["embedder", "error"],
    action: "Check the embedder's key and quota.",
  },
  "sync.run_ended": {
    levels: ["info"],
    happened: "A worker's run of a sync ended.",
    fields: ["worker_id", "sync_id", "end", "duration_ms", "cpu_used_ms"],
    action: NOTHING,
  },
  "task.failing": {
    levels: ["warn"],
    happened: "A run of a task ended in an error. The database decides whether it is tried again.",
    fields: ["task_id", "code", "message", "origin"],
    action: "Look up the code.",
  },
  "task.let_go": {
    levels: ["warn"],
    happened: "A worker stopped a task without writing its end, because the write was refused.",
    fields: ["task_id", "code"],
    action: OTHERS_CONTINUE,
  },
  "task.requested": {
    levels: ["info"],
    happened: "A client created a task, or got the one with its idempotency key.",
    fields: ["request_id", "task_id", "is_new"],
    action: NOTHING,
  },
  "task.run_ended": {
    levels: ["debug", "info"],
    happened:
      "A worker's run of a task ended; `info` if the task is completed or cancelled. One that failed is `task.failing`.",
    fields: ["worker_id", "task_id", "end", "duration_ms", "cpu_used_ms"],
    action: NOTHING,
  },
  "telemetry.export_failed": {
    levels: ["warn"],
    happened: "Spans could not be exported. Logged once per isolate.",
    fields: ["status", "error", "reason"],
    action: "Check the address and headers of the collector.",
  },
  "telemetry.spans_dropped": {
    levels: ["warn"],
    happened: "Spans were dropped, because the collector did not accept them in time.",
    fields: ["count"],
    action: "Check the collector.",
  },
  "tool.cache_outdated": {
    levels: ["warn"],
    happened: "A call used a cached definition, because the server's list could not be renewed.",
    fields: ["server", "code"],
    action: "Check the server.",
  },
  "tool.connection_not_saved": {
    levels: ["warn"],
    happened: "What a connection to a server has learned was not stored.",
    fields: ["error"],
    action: TRIED_AGAIN,
  },
  "tool.internal_error": {
    levels: ["error"],
    happened: "A tool of an internal server threw an unexpected error.",
    fields: ["tool", "error"],
    action: REPORT,
  },
  "tool.listing_broke_off": {
    levels: ["warn"],
    happened: "A renewal of a server's list failed after its caller stopped waiting.",
    fields: ["error"],
    action: TRIED_AGAIN,
  },
  "tool.listing_failed": {
    levels: ["warn"],
    happened: "A server's tools could not be listed.",
    fields: ["server", "code", "error", "details"],
    action: "Check the server and its credential.",
  },
  "tool.listing_not_given_back": {
    levels: ["warn"],
    happened: "The right to renew a list was not released.",
    fields: ["error"],
    action: "Nothing: it expires.",
  },
  "tool.listing_not_held": {
    levels: ["warn"],
    happened: "The right to renew a list was not extended; another caller may renew it too.",
    fields: ["error"],
    action: NOTHING,
  },
  "tool.recording_failed": {
    levels: ["error"],
    happened: "A tool ran, but its row in the ledger was not written.",
    fields: ["execution_id", "error"],
    action: "Check the database. Usage and limits do not count this call.",
  },
  "tool.reminder_failed": {
    levels: ["warn"],
    happened: "A failed call was answered without the arguments that worked before.",
    fields: ["error"],
    action: NOTHING,
  },
  "tool.retried": {
    levels: ["debug"],
    happened: "A call was sent again, because its first answer was lost.",
    fields: ["tool", "retry"],
    action: NOTHING,
  },
  "tool.row_unusable": {
    levels: ["warn"],
    happened: "A server is not listed, because its row is invalid.",
    fields: ["server", "error"],
    action: TOOL_ROW,
  },
  "tool.unexpected_error": {
    levels: ["error"],
    happened: "The gateway failed in a call of a tool. The caller got `INTERNAL`.",
    fields: ["tool", "error"],
    action: REPORT,
  },
  "tool.usage_not_booked": {
    levels: ["warn"],
    happened: "The cost of a model inside a tool is recorded only with the call's end.",
    fields: ["execution_id", "error"],
    action: NOTHING,
  },
  "webhook_message.not_recorded": {
    levels: ["warn"],
    happened: "A webhook's message was sent, but the attempt was not recorded.",
    fields: ["webhook_message_id", "code"],
    action: "Nothing: it is sent again. The receiver recognizes it by its id.",
  },
  "webhook_message.run_ended": {
    levels: ["info"],
    happened: "A worker's run of a webhook's message ended.",
    fields: ["worker_id", "webhook_message_id", "end", "duration_ms", "cpu_used_ms"],
    action: NOTHING,
  },
  "worker.claim_failed": {
    levels: ["warn"],
    happened: "A worker could not claim work.",
    fields: ["worker_id", "code"],
    action: TRIED_AGAIN,
  },
  "worker.failed": {
    levels: ["error"],
    happened: "A worker ended with an unexpected error.",
    fields: ["worker_id", "error"],
    action: REPORT,
  },
  "worker.files_not_removed": {
    levels: ["warn"],
    happened: "Files of deleted jobs were not removed from Storage.",
    fields: ["code"],
    action: TRIED_AGAIN,
  },
  "worker.heartbeat_failed": {
    levels: ["warn"],
    happened: "A worker could not renew its leases.",
    fields: ["worker_id", "code"],
    action: "Nothing: it is tried again, and after the lease another worker continues.",
  },
  "worker.listening": {
    levels: ["info"],
    happened: "A worker gets notifications of new tasks.",
    fields: [],
    action: NOTHING,
  },
  "worker.not_noted": {
    levels: ["warn"],
    happened: "A worker process could not record that it lives.",
    fields: ["code"],
    action:
      "Nothing if it happens once. Otherwise tasks also wake edge functions, until the process reaches the database again.",
  },
  "worker.not_listening": {
    levels: ["info"],
    happened: "A worker gets no notifications and polls, for example behind a transaction pooler.",
    fields: ["reason"],
    action:
      "For faster pickup, give it the URL of a direct or session connection. SUPASWARM_DB_POOL_MODE=transaction ends this line.",
  },
  "worker.project_not_announced": {
    levels: ["warn"],
    happened: "The function could not store its own URL, which wake-ups need.",
    fields: ["code"],
    action: TRIED_AGAIN,
  },
  "worker.stall_unknown": {
    levels: ["warn"],
    happened: "A worker could not ask how long work has waited.",
    fields: ["worker_id", "code"],
    action: NOTHING,
  },
  "worker.started": {
    levels: ["info"],
    happened: "An isolate's worker began to claim.",
    fields: ["worker_id"],
    action: NOTHING,
  },
  "worker.stop_failed": {
    levels: ["warn"],
    happened: "A worker stopped, but its row does not say when.",
    fields: ["worker_id", "code"],
    action: "Nothing: the row is deleted a day after its last heartbeat.",
  },
  "worker.stopped": {
    levels: ["info"],
    happened: "A worker stopped, with the CPU time that its isolate has used.",
    fields: ["worker_id", "cpu_used_ms"],
    action: NOTHING,
  },
  "worker.wake_failed": {
    levels: ["warn"],
    happened: "A worker that ends could not wake its successor.",
    fields: ["worker_id", "code"],
    action: "Nothing: the tick wakes one within seconds.",
  },
  "workflow.log": {
    levels: ["info"],
    happened: "The code of a workflow called `flow.log()`.",
    fields: ["task_id", "message", "facts"],
    action: NOTHING,
  },
} as const satisfies Readonly<Record<string, LogEventEntry>>;

/** The name of an event that the functions log. */
export type LogEvent = keyof typeof LOG_EVENTS;

/** A level at which the event is logged. */
export type LevelOf<Event extends LogEvent> = (typeof LOG_EVENTS)[Event]["levels"][number];

/** The name of a field of the event. */
export type FieldOf<Event extends LogEvent> = (typeof LOG_EVENTS)[Event]["fields"][number];
