/** Most files of one import. */
export const MAX_FILE_COUNT = 2_000;
/** Largest file that is read at all. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Largest sum of all files, unpacked. */
export const MAX_TOTAL_BYTES = 100 * 1024 * 1024;
