import { CommandError } from "../cli/run_command.ts";
import {
  defaultPrefixPath,
  findNativePrefix,
  readPrefixStamp,
} from "../../stack/native/native_prefix.ts";

/** An engine that tests run on. */
export type TestDatabase = "pglite" | "native";

/** How `deno task test --db` reaches the processes of the tests. */
const VARIABLE = "SUPASWARM_TEST_DATABASE";
/** How the pgTAP files that the command names reach the process that runs them. */
const PGTAP_VARIABLE = "SUPASWARM_TEST_PGTAP_FILES";

/**
 * The engine of every fixture whose test does not name one. Without `deno task test`, for example
 * under `deno test`, it is PGlite, which needs no installation.
 */
export const TEST_DATABASE: TestDatabase = Deno.env.get(VARIABLE) === "native"
  ? "native"
  : "pglite";

/** Returns the environment of a process whose {@linkcode TEST_DATABASE} is `database`. */
export function testDatabaseEnv(database: TestDatabase): Record<string, string> {
  return { [VARIABLE]: database };
}

/** Returns the environment of the process that runs these pgTAP files. */
export function pgtapFilesEnv(paths: readonly string[]): Record<string, string> {
  return { [PGTAP_VARIABLE]: paths.join("\n") };
}

/** The pgTAP files that this process runs. */
export function chosenPgtapFiles(): string[] {
  return (Deno.env.get(PGTAP_VARIABLE) ?? "").split("\n").filter((path) => path !== "");
}

/**
 * Returns the wanted engine, by default native Postgres if it is installed: its statements take a
 * fraction of the CPU time.
 *
 * @throws CommandError for an unknown engine.
 * @throws SwarmError `CONFIG_INVALID` when native Postgres is wanted but not installed.
 */
export async function chooseTestDatabase(
  wanted: string | undefined,
  prefix: string = defaultPrefixPath(),
): Promise<TestDatabase> {
  if (wanted === undefined) return await readPrefixStamp(prefix) === null ? "pglite" : "native";
  if (wanted === "native") await findNativePrefix(prefix);
  if (wanted === "native" || wanted === "pglite") return wanted;
  throw new CommandError(
    `Cannot run the tests: --db must be native or pglite, but is "${wanted}"`,
  );
}
