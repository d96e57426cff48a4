import { join, resolve } from "node:path";
import { databaseLabel } from "./database/database_url.ts";
import { findDatabase } from "./database/find_database.ts";
import { useDatabase } from "./database/use_database.ts";
import type { Check } from "./doctor/check.ts";
import { checkCompose } from "./doctor/check_compose.ts";
import { checkDatabase } from "./doctor/check_database.ts";
import { checkEndpoints } from "./doctor/check_endpoints.ts";
import { checkProject } from "./doctor/check_project.ts";
import { readComposeFiles } from "./doctor/compose_files.ts";
import { projectLabel, readProjectUrl } from "./project/project_url.ts";
import { CommandError } from "./errors/command_error.ts";
import { installedManifest } from "./project/installed_manifest.ts";
import { readProject } from "./project/project.ts";
import { listNames } from "./project/read_files.ts";
import { readEnvironment } from "./project/read_environment.ts";
import { readRelease } from "./release/release.ts";
import { supabaseCommand } from "./supabase_cli.ts";
import { print, styled } from "./terminal.ts";

/** Options of `supaswarm doctor`. */
export interface DoctorOptions {
  readonly root: string;
  /** Address of the project, to check its functions. */
  readonly url: string | undefined;
  /** URL of its database. */
  readonly db: string | undefined;
  /** Folder of the Compose files of a self-hosted Supabase. */
  readonly compose?: string | undefined;
  readonly json: boolean;
}

const RESTART = "Restart npx supaswarm dev, which applies migrations and serves the functions.";
const PUSH = `Run ${supabaseCommand("db push --remote")}.`;
const DEPLOY = `Run ${supabaseCommand("functions deploy --use-api")}, one deployment at a time.`;

/** What is checked beside the files; null where it is not known. */
interface Target {
  /** Whether it is the running `supaswarm dev`. */
  readonly isRunningHere: boolean;
  readonly database: string | null;
  /** What named the database. */
  readonly source: string;
  readonly url: string | null;
}

/**
 * Checks an installation: its files, and the database and the functions of the project that is
 * named, or of the running `supaswarm dev`.
 *
 * @throws CommandError `UNHEALTHY` if a check failed
 */
export async function doctor({ root, url, db, compose, json }: DoctorOptions): Promise<void> {
  const manifest = await installedManifest(root, "check SupaSwarm");
  const release = await readRelease();
  const target = await findTarget(root, url, db);
  const checks = [
    ...await checkProject(await readProject(root), manifest, release),
    ...target.database === null ? [] : await useDatabase(
      target.database,
      async (sql) =>
        await checkDatabase(sql, manifest, {
          push: target.isRunningHere ? RESTART : PUSH,
          scriptedAgents: target.isRunningHere ? await scriptedAgents(root) : [],
        }),
    ),
    ...target.url === null
      ? []
      : await checkEndpoints(target.url, manifest, target.isRunningHere ? RESTART : DEPLOY),
    ...compose === undefined
      ? []
      : checkCompose(await readComposeFiles(resolve(root, compose)), manifest),
  ];
  const failed = checks.filter(({ problem }) => problem !== null);
  if (json) print(toJson(target, checks));
  else show(target, checks);
  if (failed.length === 0) return;
  throw new CommandError(
    "UNHEALTHY",
    `${failed.length} of ${checks.length} checks failed`,
    "Each failed check above says what to do.",
  );
}

/** The agents that a script answers on this machine while their provider has no key. */
async function scriptedAgents(root: string): Promise<string[]> {
  const names = await listNames(join(root, "agents"));
  return names.flatMap((name) => /^([^.]+)\.script\.yaml$/.exec(name)?.[1] ?? []);
}

/** Who names only an address means that project, and not what runs on this machine. */
async function findTarget(
  root: string,
  url: string | undefined,
  db: string | undefined,
): Promise<Target> {
  const given = url === undefined ? null : readProjectUrl(url, "--url");
  const found = given !== null && db === undefined
    ? null
    : await findDatabase(db, root, await readEnvironment(root));
  return {
    isRunningHere: found !== null && found.apiUrl !== null,
    database: found?.url ?? null,
    source: found?.source ?? "",
    url: given ?? found?.apiUrl ?? null,
  };
}

function toJson({ database, url }: Target, checks: readonly Check[]): string {
  return JSON.stringify({
    healthy: checks.every(({ problem }) => problem === null),
    database: database === null ? null : databaseLabel(database),
    url,
    checks,
  });
}

function show({ database, source, url }: Target, checks: readonly Check[]): void {
  print(
    `Database   ${
      database === null ? "not checked (--db URL)" : `${databaseLabel(database)}, of ${source}`
    }`,
  );
  print(
    `Functions  ${
      url === null ? "not checked (--url https://<ref>.supabase.co)" : projectLabel(url)
    }\n`,
  );
  for (const { claim, problem, remedy } of checks) {
    if (problem === null) print(`${styled("green", "✓")} ${claim}`);
    else print(`${styled("red", "✗")} ${claim}: ${problem}\n  ${remedy}`);
  }
}
