/**
 * A placeholder session id for a server without sessions: the SDK initializes again unless it has a
 * session id. It is never sent; see `createMcpFetch`.
 */
export const NO_SESSION = "supaswarm-no-session";
