/**
 * Stands for the session of a server that keeps none: the SDK greets a server anew unless it knows
 * a session. It is never sent; see `createMcpFetch`.
 */
export const NO_SESSION = "supaswarm-no-session";
