/** The list of deleted jobs' files, and their removal. */
export interface DeletedFiles {
  /** Up to `limit` paths; returned again until they are marked as removed. */
  list(limit: number): Promise<readonly string[]>;
  /** Removes files; a missing one is not an error. */
  remove(paths: readonly string[]): Promise<void>;
  deleteRecords(paths: readonly string[]): Promise<void>;
}

const BATCH_SIZE = 100;
/** The rest is left to the next isolate. */
const MAX_BATCHES = 10;

/**
 * Removes the files of jobs that retention has deleted. Can be interrupted and repeated: a file is
 * dropped from the list only after its removal.
 *
 * @returns the number of removed files.
 * @throws STORAGE_UNAVAILABLE, DATABASE_UNAVAILABLE
 */
export async function removeDeletedFiles(files: DeletedFiles): Promise<number> {
  let count = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const paths = await files.list(BATCH_SIZE);
    if (paths.length === 0) break;
    await files.remove(paths);
    await files.deleteRecords(paths);
    count += paths.length;
  }
  return count;
}
