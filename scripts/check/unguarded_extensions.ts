/** The only form in which an extension is created, as in `platform/extensions_and_schemas.sql`. */
const GUARD =
  /if not exists \(select from pg_catalog\.pg_extension where extname = '(\w+)'\) then\s+$/;

/**
 * Finds statements that create an extension also where it exists. On a hosted project, Supabase's
 * scripts then run again, and that of pg_cron deletes the jobs of the project.
 *
 * @param text SQL, or a page with SQL.
 */
export function unguardedExtensions(path: string, text: string): string[] {
  return Array.from(text.matchAll(/\bcreate\s+extension\s+(?:if\s+not\s+exists\s+)?"?([\w-]+)/gi))
    .filter(({ index, 1: name }) => GUARD.exec(text.slice(0, index))?.[1] !== name)
    .map(({ index, 1: name }) =>
      `${path}:${text.slice(0, index).split("\n").length}: create ${name} only where ` +
      `pg_catalog.pg_extension has none, as platform/extensions_and_schemas.sql does`
    );
}
