import { join } from "node:path";
import { CommandError } from "../cli/run_command.ts";
import { fileDurations, readFileDurations, writeFileDurations } from "./file_durations.ts";
import { readFileGroups } from "./file_groups.ts";
import { createRunFolder } from "./once_per_run.ts";
import { planBatches, planRepetitions, type TestBatch } from "./plan_batches.ts";
import { type BatchReport, runBatch } from "./run_batch.ts";
import { type Progress, showProgress } from "./show_progress.ts";
import { batchLine } from "./summarize.ts";
import { pgtapFilesEnv } from "./test_database.ts";

/** After this time, a file is considered to hang. The longest takes four minutes on a quiet machine. */
const BATCH_TIMEOUT_MS = 1_800_000;

/** Runs the pgTAP files that are named, as one test file. */
const PGTAP_RUNNER = "tests/platform/pgtap/chosen_files.ts";

/** The tests to run. */
export interface TestSuite {
  readonly projectRoot: string;
  /** Files and folders, relative to the root. */
  readonly paths: readonly string[];
  /** Files and folders in `paths` that are left out. */
  readonly except?: readonly string[] | undefined;
  /** Run only tests whose name contains this text. */
  readonly filter: string | undefined;
  /** Variables of every test process in addition to those of {@linkcode testEnvironment}. */
  readonly env: Readonly<Record<string, string>>;
  /** Where tests create temporary files. Undefined: the system's folder for them. */
  readonly temporaryFolder: string | undefined;
  /** How many processes run at a time. */
  readonly jobs: number;
  /** How many times each file runs. Undefined: once. */
  readonly repetitions: number | undefined;
  readonly write: (text: string) => void;
}

/**
 * Runs a suite, the longest files first. Streams the output of a single file. With several files,
 * shows only the output of those that fail, each as one block.
 */
export async function runSuite(given: TestSuite): Promise<readonly BatchReport[]> {
  const { projectRoot, jobs, repetitions } = given;
  const leftOut = new Set(await findTestFiles(projectRoot, given.except ?? []));
  const found = (await findTestFiles(projectRoot, given.paths)).filter((path) =>
    !leftOut.has(path)
  );
  const pgtapFiles = found.filter((file) => file.endsWith(".sql"));
  const files = found.filter((file) => !file.endsWith(".sql"));
  if (pgtapFiles.length > 0) files.push(PGTAP_RUNNER);
  const batches = repetitions === undefined
    ? planBatches(
      files,
      await readFileDurations(projectRoot),
      await readFileGroups(projectRoot, files),
    )
    : planRepetitions(files, repetitions);
  await using runFolder = await createRunFolder(given.temporaryFolder);
  const suite = { ...given, env: { ...given.env, ...pgtapFilesEnv(pgtapFiles), ...runFolder.env } };
  const reports: BatchReport[] = [];
  // The output of a single process says enough.
  using progress = batches.length === 1 ? null : showProgress(batches.length, given.write);
  const queue = batches.values();
  const lanes = Array.from({ length: Math.min(jobs, batches.length) }, async () => {
    for (const batch of queue) reports.push(await runShown(batch, suite, progress));
  });
  await Promise.all(lanes);
  if (suite.filter === undefined) await writeFileDurations(projectRoot, fileDurations(reports));
  return reports;
}

async function runShown(
  batch: TestBatch,
  { projectRoot, filter, env, write }: TestSuite,
  progress: Progress | null,
): Promise<BatchReport> {
  const report = await runBatch(batch, {
    projectRoot,
    timeoutMs: BATCH_TIMEOUT_MS,
    filter,
    env,
    onOutput: progress?.note ?? write,
  });
  const hasFailed = report.cases.some(({ failure }) => failure !== null);
  const line = `${batchLine(report)}\n`;
  if (progress === null) write(line);
  else progress.end(hasFailed ? `${report.output}\n${line}` : line);
  return report;
}

/**
 * Finds the test files in `paths`, each once, sorted by name.
 *
 * @throws CommandError for a path without tests.
 */
async function findTestFiles(
  projectRoot: string,
  paths: readonly string[],
): Promise<string[]> {
  const files = new Set<string>();
  for (const path of paths) {
    const found = await filesIn(projectRoot, path.replace(/^\.\/|\/+$/g, ""));
    if (found.length === 0) throw withoutTests(path);
    for (const file of found) files.add(file);
  }
  return [...files].sort();
}

function withoutTests(path: string): CommandError {
  return new CommandError(
    `Cannot run the tests: there are none in "${path}". ` +
      "Name files *_test.ts, pgTAP files supabase/tests/<function>/<claim>.sql, or folders of them",
  );
}

function isTestFile(path: string): boolean {
  return path.endsWith("_test.ts") || /^supabase\/tests\/.*\.sql$/.test(path);
}

/** The packed programs have copies of tests. */
const BUILT = "client/dist";

async function filesIn(projectRoot: string, path: string): Promise<string[]> {
  const place = await Deno.stat(join(projectRoot, path)).catch(() => null);
  if (place === null || place.isFile) return place !== null && isTestFile(path) ? [path] : [];
  const files: string[] = [];
  for await (const entry of Deno.readDir(join(projectRoot, path))) {
    const inner = `${path}/${entry.name}`;
    if (inner === BUILT) continue;
    if (entry.isDirectory) files.push(...await filesIn(projectRoot, inner));
    else if (isTestFile(inner)) files.push(inner);
  }
  return files;
}
