import { join } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import { watchFolders } from "../../stack/watch_folders.ts";
import { isEmptyPlan } from "../mcps/plan_sync.ts";
import { scriptProblems } from "../models/script/script_problems.ts";
import { pushDefinitions, type PushOptions, type PushPlan } from "./push_definitions.ts";
import { type FileWarning, readPushFiles } from "./read_push_files.ts";

const FOLDER = "agents";
const MCPS_FILE = "external-mcps.yaml";

interface DefinitionWatchOptions {
  readonly projectRoot: string;
  readonly sql: Sql;
  readonly environment: Environment;
  readonly log: Logger;
}

const keysSchema = z.array(z.object({ kind: z.string(), slug: z.string() }));

/**
 * Pushes what the registry lacks of a project's files, and then what is saved, until the returned
 * function is called. Leaves alone what was changed in the database and not in the files. Logs what
 * was pushed and what is missing, or why nothing was, with file and line; also the mistakes of
 * scripts, which are not pushed.
 */
export async function watchDefinitions(
  { projectRoot, sql, environment, log }: DefinitionWatchOptions,
): Promise<() => Promise<void>> {
  const folder = join(projectRoot, FOLDER);
  const mcps = { path: join(projectRoot, MCPS_FILE), isRequired: false };
  /** The contents of what was pushed, or existed at the start. */
  const known = new Map<string, string>();

  async function push(): Promise<void> {
    const { definitions, servers, warnings } = await readPushFiles({ folder, mcps, environment });
    logWarnings(warnings, log);
    const files = contentsOf(definitions, servers);
    const isSaved = (key: string) => known.get(key) !== files.get(key);
    await write(
      definitions.filter((one) => isSaved(keyOf(one))),
      isSaved(MCPS_FILE) ? servers : null,
    );
    for (const [key, text] of files) known.set(key, text);
  }

  async function pushMissing(): Promise<void> {
    const registered = await registeredKeys(sql);
    const { definitions, servers, warnings } = await readPushFiles({ folder, mcps, environment });
    logWarnings(warnings, log);
    const lacksServer = servers?.entries.some(({ slug, entry }) =>
      entry.enabled && !registered.has(keyOf({ kind: "server", slug }))
    );
    // Apart from the definitions: those may not need the server whose credential is missing.
    if (lacksServer) await logRefusal(log, () => write([], servers));
    await write(definitions.filter((one) => !registered.has(keyOf(one))), null);
    for (const [key, text] of contentsOf(definitions, servers)) known.set(key, text);
  }

  async function write(
    definitions: PushOptions["definitions"],
    servers: PushOptions["servers"],
  ): Promise<void> {
    if (definitions.length === 0 && servers === null) return;
    const pushedBy = environment["USER"] ?? "unknown";
    const options = { definitions, servers, isPruning: false, isDryRun: false, pushedBy };
    logPlan(await pushDefinitions(sql, options), log);
  }

  async function run(work: () => Promise<void>): Promise<void> {
    if (!await isPresent(folder)) return;
    await logRefusal(log, async () => {
      for (const problem of await scriptProblems(folder)) {
        log("error", "script.refused", { error: problem });
      }
      await work();
    });
  }

  const first = run(pushMissing);
  const stop = watchFolders(projectRoot, [FOLDER, MCPS_FILE], async () => {
    await first;
    await run(push);
  });
  await first;
  return stop;
}

async function registeredKeys(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql`
    select kind, slug from private.definitions()
    union all
    select 'server', slug from public.tools where type = 'mcp_server'`;
  return new Set(keysSchema.parse(rows).map(keyOf));
}

/** Logs why nothing was pushed. */
async function logRefusal(log: Logger, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const hint = "hint" in error ? String(error.hint) : undefined;
    log("error", "push.refused", { error: error.message.trim(), hint });
  }
}

async function isPresent(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function keyOf({ kind, slug }: { readonly kind: string; readonly slug: string }): string {
  return `${kind} ${slug}`;
}

function contentsOf(
  definitions: PushOptions["definitions"],
  servers: PushOptions["servers"],
): ReadonlyMap<string, string> {
  const entries = definitions.map((one) => [keyOf(one), JSON.stringify(one)] as const);
  return new Map([...entries, [MCPS_FILE, JSON.stringify(servers?.entries ?? null)]]);
}

function logWarnings(warnings: readonly FileWarning[], log: Logger): void {
  for (const { at, message } of warnings) {
    log("warn", "definition.repaired", { file: at, problem: message });
  }
}

function logPlan({ changes, problems, servers }: PushPlan, log: Logger): void {
  for (const { kind, slug, change, fields, drift } of changes) {
    if (change !== "created" && change !== "changed") continue;
    log("info", "definition.pushed", {
      kind,
      slug,
      change,
      fields,
      ...drift.length === 0 ? {} : { drift },
    });
  }
  if (servers !== null && !isEmptyPlan(servers)) {
    for (const { slug, change, fields } of servers.servers) {
      if (change !== "unchanged") log("info", "server.pushed", { slug, change, fields });
    }
  }
  for (const { kind, name, field, problem, hint } of problems) {
    log("warn", "definition.incomplete", {
      kind,
      slug: name,
      problem: `${field} ${problem}`,
      hint,
    });
  }
}
