import type { Database } from "../connect.ts";
import type { Manifest } from "../project/manifest.ts";
import { privateSchema } from "../release/fill_names.ts";
import type { Check } from "./check.ts";

/** Checks an installation's database: its release, and then what this release checks itself. */
export async function checkDatabase(sql: Database, manifest: Manifest): Promise<Check[]> {
  const version = await checkVersion(sql, manifest);
  if (version.problem !== null) return [version];
  const checks = await sql<Check[]>`
    select claim, problem, remedy from ${sql(manifest.schema)}.operator_installation_checks`;
  return [version, ...checks];
}

async function checkVersion(sql: Database, { schema, version }: Manifest): Promise<Check> {
  const claim = `The database has release ${version} in schema ${schema}`;
  const [row] = await sql`
    select to_regprocedure(${`${privateSchema(schema)}.schema_version()`}) is not null as exists`;
  if (row?.exists !== true) {
    return { claim, problem: "it has none", remedy: "Run npx supabase db push." };
  }
  const [found] = await sql`select ${sql(privateSchema(schema))}.schema_version() as version`;
  return {
    claim,
    problem: found?.version === version ? null : `it has ${found?.version}`,
    remedy: "Run npx supaswarm upgrade and npx supabase db push, then deploy the functions.",
  };
}
