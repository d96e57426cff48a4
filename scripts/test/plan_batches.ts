/** Test files that one process runs, one after the other. */
export interface TestBatch {
  readonly files: readonly string[];
  readonly expectedMs: number;
}

/** Milliseconds that a file took when it last ran, by its path. */
export type FileDurations = Readonly<Record<string, number>>;

/**
 * Groups by the path of the file. The files of a group may run in one process; a file without a
 * group gets a separate process.
 */
export type FileGroups = Readonly<Record<string, TestGroup>>;

/** Files that may run in one process, and how many of them run there. */
export interface TestGroup {
  readonly name: string;
  readonly filesPerProcess: number;
}

const UNKNOWN_UNIT_MS = 300;
const UNKNOWN_INTEGRATION_MS = 10_000;

/** Divides files into batches, the longest first, so that no long one runs last. */
export function planBatches(
  files: readonly string[],
  durations: FileDurations,
  groups: FileGroups,
): TestBatch[] {
  const expectedMs = (file: string) => durations[file] ?? unknownMs(file);
  return [...ownProcesses(files, groups), ...sharedProcesses(files, groups)]
    .map((batch) => ({
      files: batch,
      expectedMs: batch.reduce((sum, file) => sum + expectedMs(file), 0),
    }))
    .sort((a, b) => b.expectedMs - a.expectedMs);
}

/** Repeats every file the given number of times, each in a separate process. */
export function planRepetitions(files: readonly string[], times: number): TestBatch[] {
  return Array.from(
    { length: times },
    () => files.map((file) => ({ files: [file], expectedMs: 0 })),
  )
    .flat();
}

function ownProcesses(files: readonly string[], groups: FileGroups): string[][] {
  return files.filter((file) => groups[file] === undefined).map((file) => [file]);
}

function sharedProcesses(files: readonly string[], groups: FileGroups): string[][] {
  const grouped = Map.groupBy(
    files.filter((file) => groups[file] !== undefined),
    (file) => groups[file]?.name ?? "",
  );
  return [...grouped.values()].flatMap((members) =>
    evenParts(members, groups[members[0] ?? ""]?.filesPerProcess ?? 1)
  );
}

/** Parts of nearly the same size, none longer than `longest`. */
function evenParts(files: readonly string[], longest: number): string[][] {
  const count = Math.ceil(files.length / longest);
  const edge = (part: number) => Math.round(part * files.length / count);
  return Array.from({ length: count }, (_, part) => files.slice(edge(part), edge(part + 1)));
}

function unknownMs(file: string): number {
  return file.startsWith("tests/") ? UNKNOWN_INTEGRATION_MS : UNKNOWN_UNIT_MS;
}
