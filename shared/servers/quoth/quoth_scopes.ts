/** The scopes that every Quoth tool requires. */
export const QUOTH_SCOPES: readonly string[] = ["quoth:read"];
