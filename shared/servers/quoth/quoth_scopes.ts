/** What every tool of Quoth needs. */
export const QUOTH_SCOPES: readonly string[] = ["quoth:read"];
