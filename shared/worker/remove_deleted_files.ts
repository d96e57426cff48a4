/** Where the files of deleted jobs are listed, and how they go. */
export interface DeletedFiles {
  /** Up to `limit` paths; the same again until they are forgotten. */
  list(limit: number): Promise<readonly string[]>;
  /** Removes files; one that is gone already is no error. */
  remove(paths: readonly string[]): Promise<void>;
  forget(paths: readonly string[]): Promise<void>;
}

const BATCH_SIZE = 100;
/** More are left to the next isolate. */
const MAX_BATCHES = 10;

/**
 * Removes the files of jobs that retention has deleted. May be broken off and repeated: a file is
 * forgotten only after it has been removed.
 *
 * @returns how many files were removed.
 * @throws STORAGE_UNAVAILABLE, DATABASE_UNAVAILABLE
 */
export async function removeDeletedFiles(files: DeletedFiles): Promise<number> {
  let count = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const paths = await files.list(BATCH_SIZE);
    if (paths.length === 0) break;
    await files.remove(paths);
    await files.forget(paths);
    count += paths.length;
  }
  return count;
}
