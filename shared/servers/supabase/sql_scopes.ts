/** The scope for reading the database. */
export const READ_SCOPES: readonly string[] = ["sql:read"];
/** The scope for a statement that writes. */
export const WRITE_SCOPES: readonly string[] = ["sql:write"];
