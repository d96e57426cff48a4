/** The release of the database that this code was written for: `private.schema_version()`. */
export const SCHEMA_VERSION = "0.1.0";
