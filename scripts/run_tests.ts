/**
 * `deno task test` and `deno task test:postgres`: all tests that need nothing but this checkout,
 * or those on native Postgres. The last line is `N passed, N failed`.
 */
import { runCommand } from "./cli/run_command.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { findNativePrefix } from "../stack/native/native_prefix.ts";
import { writeLine } from "./terminal.ts";
import { runSuite } from "./test/run_suite.ts";

const NATIVE_TESTS = ["tests/faults", "tests/postgres"];
/** They need programs of other people, which only runs that name them fetch. */
const FLEET_TESTS = "tests/fleet";

await runCommand(
  {
    name: "deno task test",
    summary: "Runs the tests on the embedded database, or those on native Postgres.",
    options: {
      postgres: { type: "boolean", help: "Runs the tests on native Postgres." },
      filter: { type: "string", placeholder: "TEXT", help: "Only tests whose name has this text." },
    },
    positionals: "[file or folder …]",
  },
  async ({ values, positionals }) => {
    // Said before the tests start, rather than once by each of them.
    if (values.postgres) await findNativePrefix();
    const paths = values.postgres
      ? NATIVE_TESTS
      : ["scripts", "shared", "stack", ...await embeddedTestFolders()];
    const { passed, failed } = await runSuite({
      projectRoot: PROJECT_ROOT,
      paths: positionals.length > 0 ? positionals : paths,
      ...values.filter === undefined ? {} : { filter: values.filter },
    });
    writeLine(`${passed} passed, ${failed} failed`);
    if (failed > 0 || passed === 0) Deno.exit(1);
  },
);

/** Named one by one: with several paths, Deno's `--ignore` leaves in what it should leave out. */
async function embeddedTestFolders(): Promise<string[]> {
  const folders: string[] = [];
  for await (const entry of Deno.readDir(`${PROJECT_ROOT}/tests`)) {
    const path = `tests/${entry.name}`;
    const isElsewhere = [...NATIVE_TESTS, FLEET_TESTS, "tests/fixtures"].includes(path);
    if (entry.isDirectory && !isElsewhere) folders.push(path);
  }
  return folders.sort();
}
