/** Path of the file with what `generate_sql` has learned, relative to the project's root. */
export const CONTEXT_FILE = "supabase/supabase-sql-context.md";
