import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import { type LocatedServer, planSync, type SyncPlan } from "./plan_sync.ts";
import { type LineProblem, YamlFileError } from "../yaml/read_located_yaml.ts";
import type { ReadEntry } from "./read_mcps_file.ts";
import { readRegistry, type Transaction } from "./registry_state.ts";
import {
  SECRET_PREFIX,
  serverDocument,
  wantedServer,
} from "../../shared/gateway/mcps_file/wanted_server.ts";

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
  const wanted = entries.map(located);
  const values = credentialsOf(wanted, environment, fileName);
  if (!isDryRun) await waitForTurn(transaction);
  const state = await readRegistry(transaction, wanted, values);
  const plan = planSync(wanted, state, new Set(values.keys()));
  if ("problems" in plan) throw new YamlFileError(fileName, plan.problems);
  if (!isDryRun) await applyPlan(transaction, plan, values);
  return plan;
}

function located(entry: ReadEntry): LocatedServer {
  const wanted = wantedServer(entry);
  const secrets = wanted.secrets
    .map((secret) => ({ ...secret, line: entry.credentialLine(secret.key) }));
  return { ...wanted, line: entry.line, secrets };
}

/** Returns the values of the set variables, by name. */
function credentialsOf(
  wanted: readonly LocatedServer[],
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
  const documents = servers
    .filter(({ change }) => change !== "removed")
    .map(({ slug, row }) => [slug, row === null ? null : serverDocument(row)] as const);
  await sql`select private.sync_file_servers(${sql.json(Object.fromEntries(documents))})`;
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
