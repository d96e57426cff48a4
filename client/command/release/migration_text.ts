import { type ChosenNames, fillNames } from "./fill_names.ts";

const CREATE_SCHEMA = `create schema supaswarm;
comment on schema supaswarm is 'SupaSwarm: what clients may read and call. The REST API exposes it.';
grant usage on schema supaswarm to anon, authenticated, service_role;
`;

/** The migration of a release for a project. */
export function migrationText(migration: string, names: ChosenNames): string {
  const filled = fillNames(migration, names);
  return names.schema === "public" ? filled : `${CREATE_SCHEMA}\n${filled}`;
}
