/** Test files that one process runs, one after the other. */
export interface TestBatch {
  readonly files: readonly string[];
  readonly expectedMs: number;
}

/** Milliseconds that a file took when it last ran, by its path. */
export type FileDurations = Readonly<Record<string, number>>;

/**
 * What a file shares with others, by its path: the files of one group may run in one process.
 * A file that is not listed has a process of its own.
 */
export type FileGroups = Readonly<Record<string, TestGroup>>;

/** Files that may run in one process, and how many of them do. */
export interface TestGroup {
  readonly name: string;
  readonly filesPerProcess: number;
}

const UNKNOWN_UNIT_MS = 300;
const UNKNOWN_INTEGRATION_MS = 10_000;

/** Divides files into batches, the longest first, so that no long one is left for the end. */
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

/** Every file that many times, each time in a process of its own. */
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
