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
/** The longest files on two quiet cores, for a checkout where they have not run yet. */
export const LONGEST_MS: FileDurations = {
  "tests/console/accessibility_test.ts": 60_000,
  "tests/console/hostile_text_test.ts": 70_000,
  "tests/console/journeys_test.ts": 50_000,
  "tests/console/lost_connection_test.ts": 60_000,
  "tests/console/tools_test.ts": 50_000,
  "tests/faults/chaos/chaos_test.ts": 60_000,
  "tests/faults/cpu_jobs_test.ts": 45_000,
  "tests/faults/isolate_limits_test.ts": 35_000,
  "tests/postgres/checked_crash_test.ts": 25_000,
  "tests/postgres/deploy_page_test.ts": 25_000,
  "tests/postgres/pgmq_versions_test.ts": 35_000,
  "tests/postgres/quoth_large_project_test.ts": 50_000,
  "tests/postgres/sync_crash_test.ts": 30_000,
  "tests/postgres/worker_crash_test.ts": 25_000,
  "tests/command/ci_page_test.ts": 30_000,
  "tests/command/command_errors_test.ts": 110_000,
  "tests/command/dev_test.ts": 50_000,
  "tests/command/docs_blocks_test.ts": 42_000,
  "tests/command/installed_project_test.ts": 35_000,
  "tests/command/skill_test.ts": 35_000,
  "tests/command/starter_test.ts": 60_000,
  "tests/security/bounded_tools_test.ts": 40_000,
  "tests/servers/quoth/sync_replay_test.ts": 40_000,
  "tests/security/access_matrix_test.ts": 45_000,
  "tests/security/blocked_by_servers_test.ts": 50_000,
  "tests/security/blocked_loop_test.ts": 35_000,
  "tests/platform/pgtap/pgtap_test.ts": 25_000,
  "tests/command/evals_test.ts": 40_000,
  "tests/command/start_test.ts": 30_000,
};

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

/**
 * Parts of nearly the same size, none longer than `longest`. Neighbors go to different parts, because
 * the long files of a folder are often next to each other.
 */
function evenParts(files: readonly string[], longest: number): string[][] {
  const count = Math.ceil(files.length / longest);
  return Array.from(
    { length: count },
    (_, part) => files.filter((_, index) => index % count === part),
  );
}

function unknownMs(file: string): number {
  return LONGEST_MS[file] ?? (file.startsWith("tests/") ? UNKNOWN_INTEGRATION_MS : UNKNOWN_UNIT_MS);
}
