/**
 * Why a model stopped, by the reasons of all APIs and of the servers that are compatible with them:
 * these use each other's.
 */
const REASONS = {
  stop: [
    ...["stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed", "complete"],
    ...["tool_calls", "tool_use", "function_call", "finish_reason_unspecified", "other"],
  ],
  length: [
    ...["length", "max_tokens", "max_output_tokens"],
    // The prompt and the answer fill the window.
    ...["model_length", "model_context_window_exceeded"],
  ],
  refused: [
    ...["refusal", "content_filter", "sensitive"],
    ...["safety", "recitation", "language", "blocklist", "prohibited_content", "spii"],
    ...["image_safety", "image_recitation", "image_prohibited_content", "model_armor"],
  ],
  /** The model's own failures. */
  failed: [
    ...["malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"],
    "malformed_response",
  ],
  /** The server's failures in the middle of an answer. */
  interrupted: ["error", "network_error", "insufficient_system_resource"],
} as const;

/** What a reason means. */
type Ending = keyof typeof REASONS;

/** What the reason of a provider means; undefined for one that no API lists. */
export function endingOf(reason: string): Ending | undefined {
  const endings = Object.keys(REASONS) as Ending[];
  return endings.find((ending) =>
    (REASONS[ending] as readonly string[]).includes(reason.toLowerCase())
  );
}
