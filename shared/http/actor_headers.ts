/**
 * `agent` on every request that an agent's tool sends: whatever credential the request carries, this
 * project then treats it as the agent's. SQL reads the same header (`private.is_agent_call()`).
 */
export const ACTOR_HEADER = "x-supaswarm-actor";

/** The agent's task, beside {@linkcode ACTOR_HEADER}. */
export const TASK_HEADER = "x-supaswarm-task-id";

/** The short-lived token that an edge function gets with a tool call, and calls back with. */
export const TOOL_TOKEN_HEADER = "x-supaswarm-token";
