import { dirname, join } from "node:path";
import type { FileDurations } from "./plan_batches.ts";
import type { BatchReport } from "./run_batch.ts";

const PATH = ".supaswarm/cache/test_durations.json";

/** Reads how long each file took in its last run. Returns an empty object on a new checkout. */
export async function readFileDurations(projectRoot: string): Promise<FileDurations> {
  try {
    return JSON.parse(await Deno.readTextFile(join(projectRoot, PATH))) as FileDurations;
  } catch {
    // Ignore a failure, because only the order of the tests depends on the durations.
    return {};
  }
}

/** Adds new durations to the stored ones. */
export async function writeFileDurations(
  projectRoot: string,
  durations: FileDurations,
): Promise<void> {
  const path = join(projectRoot, PATH);
  await Deno.mkdir(dirname(path), { recursive: true });
  const all = { ...await readFileDurations(projectRoot), ...durations };
  await Deno.writeTextFile(path, JSON.stringify(all, null, 2));
}

/** Milliseconds by file: of its process if it ran in a separate one, otherwise of its tests. */
export function fileDurations(reports: readonly BatchReport[]): FileDurations {
  const durations: Record<string, number> = {};
  for (const { batch: { files }, durationMs, cases } of reports) {
    for (const file of files) {
      const tests = cases.filter((test) => test.file === file);
      durations[file] = Math.round(
        files.length === 1 ? durationMs : tests.reduce((sum, test) => sum + test.durationMs, 0),
      );
    }
  }
  return durations;
}
