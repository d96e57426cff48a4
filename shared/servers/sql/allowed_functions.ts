import { lazily } from "../../platform/values/lazily.ts";
import { BUILT_IN_FUNCTIONS } from "./built_in_functions.ts";

/** Volatile functions without side effects. */
const VOLATILE = "clock_timestamp gen_random_uuid random random_normal timeofday uuidv4 uuidv7";

/**
 * Information about types and names, including functions that SQL syntax calls. The sizes of
 * relations are omitted, because they depend on rows of others, and the texts of definitions,
 * because a project may have written a secret into them.
 */
const INFORMATION = "pg_collation_for pg_column_size pg_get_serial_sequence pg_get_userbyid " +
  "pg_is_in_recovery pg_postmaster_start_time pg_size_bytes pg_size_pretty pg_table_is_visible " +
  "pg_typeof";

/** Built-in functions that a statement of any class may call. */
export const allowedFunctions: () => ReadonlySet<string> = lazily(() =>
  new Set(`${BUILT_IN_FUNCTIONS} ${VOLATILE} ${INFORMATION}`.trim().split(/\s+/))
);

/** Built-in functions that change data: they make a statement a write. */
export const WRITING_FUNCTIONS: ReadonlySet<string> = new Set(["nextval"]);

/** Functions of Supabase that identify the caller. */
export const CALLER_FUNCTIONS: ReadonlySet<string> = new Set([
  "auth.email",
  "auth.jwt",
  "auth.role",
  "auth.uid",
]);
