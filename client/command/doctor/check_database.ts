import { type Database, hasPlatform } from "../database/use_database.ts";
import type { Manifest } from "../project/manifest.ts";
import { privateSchema } from "../release/fill_names.ts";
import type { Check } from "./check.ts";

/**
 * Checks an installation's database: its release, and then what this release checks itself.
 *
 * @param options.push What applies the migrations, for the remedy.
 * @param options.scriptedAgents Slugs of agents that a script answers, so that they need no key.
 */
export async function checkDatabase(
  sql: Database,
  manifest: Manifest,
  { push, scriptedAgents }: {
    readonly push: string;
    readonly scriptedAgents: readonly string[];
  },
): Promise<Check[]> {
  const version = await checkVersion(sql, manifest, push);
  if (version.problem !== null) return [version];
  await sql`select set_config('supaswarm.scripted_agents', ${scriptedAgents.join(",")}, false)`;
  const checks = await sql<Check[]>`
    select claim, problem, remedy from ${sql(manifest.schema)}.operator_installation_checks`;
  return [version, ...checks];
}

async function checkVersion(
  sql: Database,
  { schema, version }: Manifest,
  push: string,
): Promise<Check> {
  const claim = `The database has release ${version} in schema ${schema}`;
  if (!await hasPlatform(sql, schema)) {
    return {
      claim,
      problem: "it has none",
      remedy: `Check that this is your project. If it is: ${push}`,
    };
  }
  const [found] = await sql`select ${sql(privateSchema(schema))}.schema_version() as version`;
  return {
    claim,
    problem: found?.version === version ? null : `it has ${found?.version}`,
    remedy: `Run npx supaswarm upgrade, commit, and then: ${push}`,
  };
}
