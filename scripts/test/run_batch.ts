import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FULL_LOCK } from "../locks/lock_files.ts";
import type { TestBatch } from "./plan_batches.ts";
import { testEnvironment } from "./test_environment.ts";
import { isOwnFailure, readTestReport, type TestCase } from "./test_report.ts";

/**
 * Leaves the WebAssembly of the embedded database unoptimized. To optimize it takes more CPU time
 * than it saves, even in the pgTAP tests, and at a boot a third of the time.
 */
const V8_FLAGS = "--liftoff-only";

/**
 * The embedded Auth hashes passwords in JavaScript. With its own default of 10, a sign-up takes a
 * large part of the CPU time of many tests; 4 is the lowest cost.
 */
const BCRYPT_COST = "4";

/** The name of a failure outside of any test. */
const OUTSIDE = "(outside of its tests)";

/** Options of {@linkcode runBatch}. */
export interface BatchOptions {
  readonly projectRoot: string;
  /** Run only tests whose name contains this text. */
  readonly filter: string | undefined;
  /** Variables of the process in addition to those of {@linkcode testEnvironment}. */
  readonly env: Readonly<Record<string, string>>;
  /** The process is killed after this time. */
  readonly timeoutMs: number;
  /** Receives the output as it arrives. */
  readonly onOutput?: (text: string) => void;
}

/** The result of a batch. */
export interface BatchReport {
  readonly batch: TestBatch;
  readonly durationMs: number;
  /** Tests and steps. A file that failed outside of any test counts as one. */
  readonly cases: readonly TestCase[];
  /** The complete output of the process. */
  readonly output: string;
}

/**
 * Runs the files of a batch with `deno test` in a separate process. If a batch of several files
 * fails outside of any test, each file runs again alone, because one of them may have kept the
 * others from running.
 */
export async function runBatch(batch: TestBatch, options: BatchOptions): Promise<BatchReport> {
  const report = await runProcess(batch, options);
  const isWhole = report.cases.every(({ name }) => name !== OUTSIDE);
  if (isWhole || batch.files.length === 1) return report;
  const reports: BatchReport[] = [];
  for (const file of batch.files) {
    reports.push(await runProcess({ files: [file], expectedMs: 0 }, options));
  }
  return {
    batch,
    durationMs: reports.reduce((sum, { durationMs }) => sum + durationMs, report.durationMs),
    cases: reports.flatMap(({ cases }) => cases),
    output: [report, ...reports].map(({ output }) => output).join("\n"),
  };
}

async function runProcess(batch: TestBatch, options: BatchOptions): Promise<BatchReport> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-tests-" });
  const reportPath = join(folder, "junit.xml");
  const startedAt = performance.now();
  try {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "-A",
        "--no-check",
        `--lock=${FULL_LOCK}`,
        `--junit-path=${reportPath}`,
        ...options.filter === undefined ? [] : [`--filter=${options.filter}`],
        await entryOf(batch, options.projectRoot, folder),
      ],
      cwd: options.projectRoot,
      clearEnv: true,
      env: testEnvironment(Deno.env.toObject(), {
        ...options.env,
        DENO_V8_FLAGS: V8_FLAGS,
        LITE_AUTH_BCRYPT_COST: BCRYPT_COST,
      }),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, options.timeoutMs);
    const [{ success }, output] = await Promise.all([child.status, collectOutput(child, options)]);
    clearTimeout(timer);
    const durationMs = performance.now() - startedAt;
    const report = await readTestReport(await Deno.readTextFile(reportPath).catch(() => ""));
    const cases = await withOwnFiles(report, batch, options.projectRoot);
    const outside = isLate
      ? `The run was ended after ${options.timeoutMs / 1_000} s`
      : failureOutside(success, cases, output);
    return {
      batch,
      durationMs,
      cases: outside === null ? cases : [...cases, ...failuresOf(batch, cases, outside)],
      output,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Returns the argument of `deno test`: the only file, or a new module that imports all files of
 * the batch. As separate arguments, each file would get its own isolate: it would load all imports
 * again and could not share what another file booted.
 */
async function entryOf(
  { files }: TestBatch,
  projectRoot: string,
  folder: string,
): Promise<string> {
  const [first = ""] = files;
  if (files.length === 1) return first;
  const entry = join(folder, "entry_test.ts");
  const urls = files.map((file) => pathToFileURL(join(projectRoot, file)).href);
  await Deno.writeTextFile(entry, urls.map((url) => `import ${JSON.stringify(url)};\n`).join(""));
  return entry;
}

/**
 * `deno test` reports a test that a fixture registered under the fixture's file. It belongs to the
 * file that names it.
 */
async function withOwnFiles(
  cases: readonly TestCase[],
  { files }: TestBatch,
  projectRoot: string,
): Promise<TestCase[]> {
  if (cases.every(({ file }) => files.includes(file))) return [...cases];
  const sources = await Promise.all(
    files.map(async (file) => [file, await Deno.readTextFile(join(projectRoot, file))] as const),
  );
  const ownFile = ({ file, name }: TestCase) => {
    if (files.includes(file)) return file;
    const [test = name] = name.split(" > ");
    const own = sources.find(([, source]) => files.length === 1 || source.includes(`"${test}"`));
    return own?.[0] ?? file;
  };
  return cases.map((test) => ({ ...test, file: ownFile(test) }));
}

/**
 * Returns the failure of a run whose tests all passed: an error on import, or a process that died.
 */
function failureOutside(
  success: boolean,
  cases: readonly TestCase[],
  output: string,
): string | null {
  const [uncaught] = output.match(/^Uncaught error from .*$/m) ?? [];
  if (uncaught !== undefined) return output.match(/\(uncaught error\)\n(.*)/)?.[1] ?? uncaught;
  return success || cases.some(isOwnFailure) ? null : "The run failed outside of any test";
}

/** Assigns the failure to the files without a report, or to the whole batch if all have one. */
function failuresOf(
  { files }: TestBatch,
  cases: readonly TestCase[],
  failure: string,
): TestCase[] {
  const silent = files.filter((file) => cases.every((test) => test.file !== file));
  const blamed = silent.length > 0 ? silent : [files.join(" ")];
  return blamed.map((file) => ({ file, name: OUTSIDE, durationMs: 0, failure }));
}

async function collectOutput(
  child: Deno.ChildProcess,
  { onOutput }: BatchOptions,
): Promise<string> {
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      onOutput?.(text);
      output += text;
    }
  };
  await Promise.all([collect(child.stdout), collect(child.stderr)]);
  return output;
}
