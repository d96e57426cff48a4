import { join } from "node:path";

/** How many tests passed and failed. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/** What to run. */
export interface TestSuite {
  readonly projectRoot: string;
  /** Files and folders, from the root. */
  readonly paths: readonly string[];
  /** Only tests whose name has this text. */
  readonly filter?: string;
}

/** Runs a suite with `deno test`, showing its output as it comes. */
export async function runSuite(suite: TestSuite): Promise<TestCounts> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-tests-" });
  const reportPath = join(folder, "junit.xml");
  try {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "-A",
        "--no-check",
        `--junit-path=${reportPath}`,
        ...suite.filter === undefined ? [] : [`--filter=${suite.filter}`],
        ...suite.paths,
      ],
      cwd: suite.projectRoot,
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn().status;
    const counts = countTests(await Deno.readTextFile(reportPath).catch(() => ""));
    // A run that died, or that failed outside of any test, has failed.
    return success || counts.failed > 0 ? counts : { ...counts, failed: 1 };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Adds up the suites of a JUnit report. */
export function countTests(report: string): TestCounts {
  let passed = 0;
  let failed = 0;
  for (const [, attributes = ""] of report.matchAll(/<testsuite ([^>]*)>/g)) {
    const count = (name: string) => Number(attributes.match(`${name}="(\\d+)"`)?.[1] ?? 0);
    const failures = count("failures") + count("errors");
    failed += failures;
    passed += count("tests") - failures - count("disabled");
  }
  return { passed, failed };
}
