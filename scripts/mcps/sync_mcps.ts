import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import { planSync, type ServerChange, type SyncPlan } from "./plan_sync.ts";
import { type LineProblem, YamlFileError } from "../yaml/read_located_yaml.ts";
import type { ReadEntry } from "./read_mcps_file.ts";
import { readRegistry, type Transaction } from "./registry_state.ts";
import { SECRET_PREFIX, type WantedServer, wantedServer } from "./wanted_server.ts";

/** What to sync. */
export interface SyncOptions {
  /** Name of the file in error messages. */
  readonly fileName: string;
  readonly entries: readonly ReadEntry[];
  /** Variables with the credentials. */
  readonly environment: Environment;
  /** Only report changes. */
  readonly isDryRun: boolean;
}

/** Maximum length of a secret in Vault, the same as for users' secrets. */
const MAX_SECRET_CHARACTERS = 8_192;

/**
 * Updates the registry and Vault to match the file, in one transaction. A concurrent sync waits for
 * the first and then has nothing to do. Never changes rows that the file did not create.
 *
 * @returns The changes that were made, or would be.
 * @throws YamlFileError for a conflict with the registry or a missing variable, with its line;
 * DATABASE_UNAVAILABLE.
 */
export async function syncMcps(sql: Sql, options: SyncOptions): Promise<SyncPlan> {
  const work = (transaction: Transaction) => syncInTransaction(transaction, options);
  try {
    return options.isDryRun ? await sql.begin("read only", work) : await sql.begin(work);
  } catch (error) {
    if (error instanceof YamlFileError) throw error;
    throw toSwarmError(error, "sync the external MCP servers");
  }
}

/**
 * The same as a part of a transaction of the caller.
 *
 * @throws YamlFileError
 */
export async function syncInTransaction(
  transaction: Transaction,
  { entries, environment, isDryRun, fileName }: SyncOptions,
): Promise<SyncPlan> {
  const wanted = entries.map(wantedServer);
  const values = credentialsOf(wanted, environment, fileName);
  if (!isDryRun) await waitForTurn(transaction);
  const state = await readRegistry(transaction, wanted, values);
  const plan = planSync(wanted, state, new Set(values.keys()));
  if ("problems" in plan) throw new YamlFileError(fileName, plan.problems);
  if (!isDryRun) await applyPlan(transaction, plan, values);
  return plan;
}

/** Returns the values of the set variables, by name. */
function credentialsOf(
  wanted: readonly WantedServer[],
  environment: Environment,
  fileName: string,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const problems: LineProblem[] = [];
  for (const { variable, line } of wanted.flatMap(({ secrets }) => secrets)) {
    const value = environment[variable]?.trim() ?? "";
    // deno-lint-ignore no-control-regex -- no header can carry control characters
    if (value.length > MAX_SECRET_CHARACTERS || /[\x00-\x1f\x7f]/.test(value)) {
      const message =
        `${variable} cannot be used in a header: it has control characters, such as ` +
        `line breaks, or more than ${MAX_SECRET_CHARACTERS} characters`;
      problems.push({ line, message });
    } else if (value !== "") values.set(variable, value);
  }
  if (problems.length > 0) throw new YamlFileError(fileName, problems);
  return values;
}

async function waitForTurn(sql: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('supaswarm:mcps-sync', 0))`;
}

async function applyPlan(
  sql: Transaction,
  { servers, secrets }: SyncPlan,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { name, variable, change } of secrets) {
    if (change === "stored" || change === "replaced") {
      const value = values.get(variable ?? "") ?? null;
      const description = `${variable}, by external-mcps.yaml`;
      await sql`select private.set_secret(
        p_name => ${name},
        p_secret => ${value},
        p_description => ${description}
      )`;
    }
  }
  for (const { slug, change } of servers) {
    if (change === "removed") {
      // This also deletes the users' credentials for it, including those in Vault.
      await sql`delete from public.tools where slug = ${slug} and source = 'yaml'`;
    }
  }
  await clearNames(sql, servers);
  for (const server of servers) await write(sql, server);
  for (const { name, change } of secrets) {
    if (change === "removed" && name.startsWith(SECRET_PREFIX)) {
      await sql`select private.set_secret(
        p_name => ${name},
        p_secret => null,
        p_description => null
      )`;
    }
  }
}

/** Two entries may swap their names, which are always unique. */
async function clearNames(sql: Transaction, servers: readonly ServerChange[]): Promise<void> {
  for (const { slug, fields } of servers) {
    if (fields.includes("name")) {
      await sql`update public.tools set name = id::text where slug = ${slug} and source = 'yaml'`;
    }
  }
}

async function write(sql: Transaction, { slug, change, row }: ServerChange): Promise<void> {
  if (change === "switched_off") {
    await sql`update public.tools set is_active = false where slug = ${slug} and source = 'yaml'`;
    return;
  }
  if (row === null || change === "unchanged") return;
  const config = sql.json(JSON.parse(JSON.stringify(row.config)));
  await sql`
    insert into public.tools
      (slug, name, type, description, config, credential_secret_name, credential_type,
        credential_description, is_active, source)
    values (
      ${slug}, ${row.name}, 'mcp_server', ${row.description}, ${config},
      ${row.credential_secret_name}, ${row.credential_type}, ${row.credential_description},
      ${row.is_active}, 'yaml')
    on conflict (slug) do update set
      name = excluded.name,
      description = excluded.description,
      config = excluded.config,
      credential_secret_name = excluded.credential_secret_name,
      credential_type = excluded.credential_type,
      credential_description = excluded.credential_description,
      is_active = excluded.is_active
    where tools.source = 'yaml'`;
}
