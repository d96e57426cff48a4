/** What every tool of Quoth needs outside tasks. */
export const QUOTH_SCOPES: readonly string[] = ["quoth:read"];
