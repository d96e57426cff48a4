/** The kinds of exported data, each with its own files. */
export type ExportKind = "feedback" | "failures";

const CALL_COLUMNS = [
  "execution_id",
  "called_at",
  "mcp_name",
  "tool_name",
  "tool_version",
  "agent",
  "user_id",
  "task_id",
  "attempt",
  "status",
  "error_type",
  "error_code",
  "error_message",
  "execution_time_ms",
  "llm_provider",
  "llm_model",
  "arguments",
] as const;

/** The columns of each kind of file, from `private.reviewed_calls`; new ones are appended. */
export const EXPORT_COLUMNS: Readonly<Record<ExportKind, readonly string[]>> = {
  feedback: [
    ...["feedback_id", "graded_at", "grade_changed_at", "rating", "rating_score", "comment"],
    ...CALL_COLUMNS,
  ],
  failures: ["failure_id", "failed_at", ...CALL_COLUMNS, "rating", "rating_score", "comment"],
};
