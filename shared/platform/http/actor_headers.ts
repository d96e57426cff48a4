/**
 * `agent` on every request of an agent's tool: with any credential, this project then treats the
 * request as the agent's. SQL reads the same header (`private.is_agent_call()`).
 */
export const ACTOR_HEADER = "x-supaswarm-actor";

/** The agent's task, in addition to {@linkcode ACTOR_HEADER}. */
export const TASK_HEADER = "x-supaswarm-task-id";

/**
 * The short-lived token that an edge function gets with a tool call and uses for its own requests.
 */
export const TOOL_TOKEN_HEADER = "x-supaswarm-token";
