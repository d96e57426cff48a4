import { join } from "node:path";
import type { TestBatch } from "./plan_batches.ts";
import { isOwnFailure, readTestReport, type TestCase } from "./test_report.ts";

/** Options of {@linkcode runBatch}. */
export interface BatchOptions {
  readonly projectRoot: string;
  /** Run only tests whose name contains this text. */
  readonly filter: string | undefined;
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

/** Runs the files of a batch with `deno test` in a separate process. */
export async function runBatch(batch: TestBatch, options: BatchOptions): Promise<BatchReport> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-tests-" });
  const reportPath = join(folder, "junit.xml");
  const startedAt = performance.now();
  try {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "-A",
        "--no-check",
        `--junit-path=${reportPath}`,
        ...options.filter === undefined ? [] : [`--filter=${options.filter}`],
        ...batch.files,
      ],
      cwd: options.projectRoot,
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
    const cases = await readTestReport(await Deno.readTextFile(reportPath).catch(() => ""));
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
  return blamed.map((file) => ({ file, name: "(outside of its tests)", durationMs: 0, failure }));
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
