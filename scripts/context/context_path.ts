/** Where a project keeps what `generate_sql` has learned, from its root. */
export const CONTEXT_FILE = "supabase/supabase-sql-context.md";
