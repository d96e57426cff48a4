/** What reading the database needs. */
export const READ_SCOPES: readonly string[] = ["sql:read"];
/** What a statement needs that turns out to write. */
export const WRITE_SCOPES: readonly string[] = ["sql:write"];
