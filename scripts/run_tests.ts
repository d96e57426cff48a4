/**
 * `deno task test` and `deno task test:postgres`: runs all tests that need only this checkout, or
 * those on native Postgres, in several processes at a time. Prints the slowest files, every failure,
 * and the line `N passed, N failed`.
 */
import { CommandError, runCommand } from "./cli/run_command.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { FIRST_RELEASE, writeFirstRelease } from "./release/first_release.ts";
import { writeLine, writeText } from "./terminal.ts";
import { findMemoryFolder } from "./test/memory_folder.ts";
import { runSuite } from "./test/run_suite.ts";
import { countTests, failureLines, slowestFiles } from "./test/summarize.ts";
import { chooseTestDatabase, type TestDatabase, testDatabaseEnv } from "./test/test_database.ts";

const ENGINES: Readonly<Record<TestDatabase, string>> = {
  native: "native Postgres, and on PGlite where a test names it (--db pglite: all on PGlite)",
  pglite: "PGlite (deno task native:install makes them faster)",
};
const NATIVE_TESTS = ["tests/faults", "tests/postgres"];
/** These tests download third-party programs, so they run only when they are named. */
const FLEET_TESTS = "tests/fleet";
/** These tests need a browser. Only `deno task test:browser` runs them. */
const BROWSER_TESTS = "tests/console";
/** These tests follow a newcomer through whole commands. Only `deno task test:command` runs them. */
const COMMAND_TESTS = "tests/command";
const OTHER_SUITES = [...NATIVE_TESTS, FLEET_TESTS, BROWSER_TESTS, COMMAND_TESTS];

await runCommand(
  {
    name: "deno task test",
    summary: "Runs the tests of this checkout, or those of concurrency on native Postgres.",
    options: {
      postgres: { type: "boolean", help: "Run the tests that need native Postgres." },
      db: {
        type: "string",
        placeholder: "ENGINE",
        help: "Engine of the other tests: native or pglite. Default: native if it is installed.",
      },
      filter: {
        type: "string",
        placeholder: "TEXT",
        help: "Run only tests whose name contains this text.",
      },
      jobs: {
        type: "string",
        placeholder: "N",
        help: "Processes at a time. Default: two more than cores, one more in the other suites.",
      },
      repeat: {
        type: "string",
        placeholder: "N",
        help: "Run each file N times to find flaky tests.",
      },
    },
    positionals: "[file or folder …]",
  },
  async ({ values, positionals }) => {
    // Report this before the tests start, so that each test does not repeat it.
    if (await writeFirstRelease()) writeLine(`Wrote ${FIRST_RELEASE}`);
    const database = await chooseTestDatabase(values.postgres ? "native" : values.db);
    writeLine(`Tests run on ${ENGINES[database]}`);
    const all = values.postgres
      ? NATIVE_TESTS
      : ["client", "lab", "scripts", "shared", "stack", ...await embeddedTestFolders()];
    const paths = positionals.length > 0 ? positionals : all;
    const isOtherSuite = paths.some((path) =>
      OTHER_SUITES.some((folder) => path.startsWith(folder))
    );
    const reports = await runSuite({
      projectRoot: PROJECT_ROOT,
      paths,
      // Deno restricts programs in /dev, and other suites run whole projects in temporary folders.
      temporaryFolder: isOtherSuite ? undefined : await findMemoryFolder(),
      // Tests wait too, so as many processes as cores would not keep all cores busy. Those of other
      // suites start several processes each.
      jobs: readCount("jobs", values.jobs) ??
        navigator.hardwareConcurrency + (isOtherSuite ? 1 : 2),
      repetitions: readCount("repeat", values.repeat),
      filter: values.filter,
      env: testDatabaseEnv(database),
      write: writeText,
    });
    if (reports.length > 1) writeSection("slowest files", slowestFiles(reports));
    writeSection("failures", failureLines(reports));
    const { passed, failed } = countTests(reports);
    if (passed + failed === 0 && values.filter !== undefined) {
      writeLine(`No test of these files has "${values.filter}" in its name`);
    }
    writeLine(`${passed} passed, ${failed} failed`);
    if (failed > 0 || passed === 0) Deno.exit(1);
  },
);

function writeSection(title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  writeLine(`\n${title}`);
  for (const line of lines) writeLine(`  ${line}`);
  writeLine();
}

function readCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const count = Number(value);
  if (Number.isInteger(count) && count > 0) return count;
  throw new CommandError(
    `Cannot run the tests: --${name} must be a whole number above 0, but is "${value}"`,
  );
}

async function embeddedTestFolders(): Promise<string[]> {
  const folders: string[] = [];
  for await (const entry of Deno.readDir(`${PROJECT_ROOT}/tests`)) {
    const path = `tests/${entry.name}`;
    const isElsewhere = [...OTHER_SUITES, "tests/fixtures"].includes(path);
    if (entry.isDirectory && !isElsewhere) folders.push(path);
  }
  return folders.sort();
}
