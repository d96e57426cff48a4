/**
 * `deno task test` and `deno task test:postgres`: all tests that need nothing but this checkout,
 * or those on native Postgres, as many processes at a time as the machine has cores. Ends with the
 * slowest files, every failure, and the line `N passed, N failed`.
 */
import { CommandError, runCommand } from "./cli/run_command.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { findNativePrefix } from "../stack/native/native_prefix.ts";
import { writeLine, writeText } from "./terminal.ts";
import { runSuite } from "./test/run_suite.ts";
import { countTests, failureLines, slowestFiles } from "./test/summarize.ts";

const NATIVE_TESTS = ["tests/faults", "tests/postgres"];
/** They need programs of other people, which only runs that name them fetch. */
const FLEET_TESTS = "tests/fleet";
/** They need a browser, which only `deno task test:browser` asks for. */
const BROWSER_TESTS = "tests/browser";

await runCommand(
  {
    name: "deno task test",
    summary: "Runs the tests on the embedded database, or those on native Postgres.",
    options: {
      postgres: { type: "boolean", help: "Runs the tests on native Postgres." },
      filter: { type: "string", placeholder: "TEXT", help: "Only tests whose name has this text." },
      jobs: {
        type: "string",
        placeholder: "N",
        help: "Processes at a time. Default: the number of cores.",
      },
      repeat: {
        type: "string",
        placeholder: "N",
        help: "Runs each file N times, to find tests that fail now and then.",
      },
    },
    positionals: "[file or folder …]",
  },
  async ({ values, positionals }) => {
    // Said before the tests start, rather than once by each of them.
    if (values.postgres) await findNativePrefix();
    const paths = values.postgres
      ? NATIVE_TESTS
      : ["scripts", "shared", "stack", ...await embeddedTestFolders()];
    const reports = await runSuite({
      projectRoot: PROJECT_ROOT,
      paths: positionals.length > 0 ? positionals : paths,
      jobs: readCount("jobs", values.jobs) ?? navigator.hardwareConcurrency,
      repetitions: readCount("repeat", values.repeat),
      filter: values.filter,
      write: writeText,
    });
    if (reports.length > 1) writeSection("slowest files", slowestFiles(reports));
    writeSection("failures", failureLines(reports));
    const { passed, failed } = countTests(reports);
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
    `Cannot run the tests: --${name} is "${value}", give a whole number above 0`,
  );
}

async function embeddedTestFolders(): Promise<string[]> {
  const folders: string[] = [];
  for await (const entry of Deno.readDir(`${PROJECT_ROOT}/tests`)) {
    const path = `tests/${entry.name}`;
    const isElsewhere = [...NATIVE_TESTS, FLEET_TESTS, BROWSER_TESTS, "tests/fixtures"].includes(
      path,
    );
    if (entry.isDirectory && !isElsewhere) folders.push(path);
  }
  return folders.sort();
}
