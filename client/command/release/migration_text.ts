import { type ChosenNames, fillNames } from "./fill_names.ts";
import { MARKERS } from "./markers.ts";
import type { ReleaseMigration } from "./release.ts";

const CREATE_SCHEMA = `create schema ${MARKERS.public};
comment on schema ${MARKERS.public} is 'SupaSwarm: what clients may read and call. The REST API exposes it.';
grant usage on schema ${MARKERS.public} to anon, authenticated, service_role;
`;

const NOTE_EXTENSIONS = `-- For the removal: which extensions are the project's own.
create temporary table supaswarm_existing_extensions as select extname::text as name from pg_catalog.pg_extension;
`;

const RECORD_EXTENSIONS = `create table ${MARKERS.private}.created_extensions (
  name text primary key
);
comment on table ${MARKERS.private}.created_extensions is
  'Extensions that the installation of the platform created. Its removal drops those that nothing else uses.';
alter table ${MARKERS.private}.created_extensions enable row level security;
revoke all on ${MARKERS.private}.created_extensions from anon, authenticated, service_role;
insert into ${MARKERS.private}.created_extensions
select extname from pg_catalog.pg_extension
where extname not in (select name from supaswarm_existing_extensions);
drop table supaswarm_existing_extensions;
`;

/** The end of the release's own check, which refuses the whole migration. */
const END_OF_PREFLIGHT = "$preflight$;\n";

/** One migration with all releases, for a project that has none of them. */
export function migrationText(
  migrations: readonly ReleaseMigration[],
  names: ChosenNames,
): string {
  const migration = migrations.map(({ sql }) => sql).join("\n");
  const end = migration.indexOf(END_OF_PREFLIGHT) + END_OF_PREFLIGHT.length;
  const schema = names.schema === "public" ? [] : [CREATE_SCHEMA];
  return fillNames(
    [
      migration.slice(0, end),
      ...schema,
      NOTE_EXTENSIONS,
      migration.slice(end),
      RECORD_EXTENSIONS,
    ].join("\n"),
    names,
  );
}
