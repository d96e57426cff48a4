/** Test files that one process runs, one after the other. */
export interface TestBatch {
  readonly files: readonly string[];
  readonly expectedMs: number;
}

/** Milliseconds that a file took when it last ran, by its path. */
export type FileDurations = Readonly<Record<string, number>>;

/** Tests beside their source need no platform, so starting a process takes longer than they do. */
const FILES_PER_SHARED_PROCESS = 16;
const UNKNOWN_UNIT_MS = 300;
const UNKNOWN_INTEGRATION_MS = 10_000;

/**
 * Divides files into batches, the longest first, so that no long one runs last. Each file under
 * `tests/` gets a separate process. Files beside their source share processes.
 */
export function planBatches(files: readonly string[], durations: FileDurations): TestBatch[] {
  const expectedMs = (file: string) => durations[file] ?? unknownMs(file);
  const batchOf = (batch: readonly string[]) => ({
    files: batch,
    expectedMs: batch.reduce((sum, file) => sum + expectedMs(file), 0),
  });
  const batches = files.filter(isIntegration).map((file) => batchOf([file]));
  const units = files.filter((file) => !isIntegration(file));
  for (let start = 0; start < units.length; start += FILES_PER_SHARED_PROCESS) {
    batches.push(batchOf(units.slice(start, start + FILES_PER_SHARED_PROCESS)));
  }
  return batches.sort((a, b) => b.expectedMs - a.expectedMs);
}

/** Repeats every file the given number of times, each in a separate process. */
export function planRepetitions(files: readonly string[], times: number): TestBatch[] {
  return Array.from(
    { length: times },
    () => files.map((file) => ({ files: [file], expectedMs: 0 })),
  )
    .flat();
}

function isIntegration(file: string): boolean {
  return file.startsWith("tests/");
}

function unknownMs(file: string): number {
  return isIntegration(file) ? UNKNOWN_INTEGRATION_MS : UNKNOWN_UNIT_MS;
}
