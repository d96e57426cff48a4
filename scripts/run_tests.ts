/**
 * `deno task test` and `deno task test:postgres`: runs the essential tests, all that need only this
 * checkout, or those on native Postgres, in several processes at a time. Prints its progress, the
 * slowest files, every failure, and the line `N passed, N failed`.
 */
import { CommandError, runCommand } from "./cli/run_command.ts";
import { writeStale } from "./generate/generated_files.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { releaseFiles } from "./release/first_release.ts";
import { writeLine, writeText } from "./terminal.ts";
import { ESSENTIAL_TESTS } from "./test/essential_tests.ts";
import { findMemoryFolder } from "./test/memory_folder.ts";
import { runSuite } from "./test/run_suite.ts";
import { countTests, failureLines, slowestFiles } from "./test/summarize.ts";
import { chooseTestDatabase, type TestDatabase, testDatabaseEnv } from "./test/test_database.ts";

const ENGINES: Readonly<Record<TestDatabase, string>> = {
  native: "native Postgres, and on PGlite where a test names it (--db pglite: all on PGlite)",
  pglite: "PGlite",
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
    summary: "Runs the essential tests on PGlite, all tests, or the named files and folders.",
    options: {
      all: {
        type: "boolean",
        help: "Run all tests that need only this checkout, on native Postgres if it is installed.",
      },
      others: { type: "boolean", help: "Run those of --all that are not essential." },
      postgres: { type: "boolean", help: "Run the tests that need native Postgres." },
      db: {
        type: "string",
        placeholder: "ENGINE",
        help: "Engine: native or pglite. Default: pglite for the essential tests, otherwise " +
          "native if it is installed.",
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
    for (const path of await writeStale(await releaseFiles())) writeLine(`Wrote ${path}`);
    const { title, paths, except, engine } = await chooseTests(values, positionals);
    const database = await chooseTestDatabase(values.postgres ? engine : values.db ?? engine);
    writeLine(`${title} run on ${ENGINES[database]}`);
    const isOtherSuite = paths.some((path) =>
      OTHER_SUITES.some((folder) => path.startsWith(folder))
    );
    const reports = await runSuite({
      projectRoot: PROJECT_ROOT,
      paths,
      except,
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
    if (paths === ESSENTIAL_TESTS) writeLine("Run the others too with: deno task test --all");
    writeLine(`${passed} passed, ${failed} failed`);
    if (failed > 0 || passed === 0) Deno.exit(1);
  },
);

/** Tests, and the engine on which they run by default; undefined is any that is installed. */
interface ChosenTests {
  readonly title: string;
  readonly paths: readonly string[];
  readonly except?: readonly string[];
  readonly engine?: TestDatabase;
}

async function chooseTests(
  { all, others, postgres }: {
    readonly all?: boolean;
    readonly others?: boolean;
    readonly postgres?: boolean;
  },
  named: readonly string[],
): Promise<ChosenTests> {
  if (postgres) {
    return {
      title: "The tests on native Postgres",
      paths: named.length > 0 ? named : NATIVE_TESTS,
      engine: "native",
    };
  }
  if (named.length > 0) return { title: "The named tests", paths: named };
  // On each machine they run as on one where nothing is installed.
  if (!all && !others) {
    return { title: "The essential tests", paths: ESSENTIAL_TESTS, engine: "pglite" };
  }
  const paths = ["client", "lab", "scripts", "shared", "stack", ...await embeddedTestFolders()];
  return others
    ? { title: "All but the essential tests", paths, except: ESSENTIAL_TESTS }
    : { title: "All tests", paths };
}

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
