import { CommandError } from "./command_error.ts";
import { useDatabase } from "./connect.ts";
import type { Check } from "./doctor/check.ts";
import { checkDatabase } from "./doctor/check_database.ts";
import { checkEndpoints } from "./doctor/check_endpoints.ts";
import { checkProject } from "./doctor/check_project.ts";
import { installedManifest } from "./project/installed_manifest.ts";
import { readProject } from "./project/project.ts";
import { readRelease } from "./release/release.ts";
import { print, styled } from "./terminal.ts";

/** Options of `supaswarm doctor`. */
export interface DoctorOptions {
  readonly root: string;
  /** Address of the project, to check its functions. */
  readonly url: string | null;
  /** URL of its database. */
  readonly db: string | null;
  readonly json: boolean;
}

/**
 * Checks an installation: its files, and its database and functions where they are named.
 *
 * @throws CommandError `UNHEALTHY` if a check failed
 */
export async function doctor({ root, url, db, json }: DoctorOptions): Promise<void> {
  const manifest = await installedManifest(root, "check SupaSwarm");
  const release = await readRelease();
  const checks = [
    ...await checkProject(await readProject(root), manifest, release),
    ...db === null ? [] : await useDatabase(db, (sql) => checkDatabase(sql, manifest)),
    ...url === null ? [] : await checkEndpoints(url, manifest),
  ];
  const failed = checks.filter(({ problem }) => problem !== null);
  if (json) print(JSON.stringify({ healthy: failed.length === 0, checks }));
  else show(checks, { db, url });
  if (failed.length === 0) return;
  throw new CommandError(
    "UNHEALTHY",
    `${failed.length} of ${checks.length} checks failed`,
    "Each failed check above says what to do.",
  );
}

function show(checks: readonly Check[], { db, url }: Pick<DoctorOptions, "db" | "url">): void {
  for (const { claim, problem, remedy } of checks) {
    if (problem === null) print(`${styled("green", "✓")} ${claim}`);
    else print(`${styled("red", "✗")} ${claim}: ${problem}\n  ${remedy}`);
  }
  if (db === null) print("\nNot checked: the database (--db URL)");
  if (url === null) print("Not checked: the functions (--url https://<ref>.supabase.co)");
}
