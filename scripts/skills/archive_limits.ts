/** Maximum number of files of one import. */
export const MAX_FILE_COUNT = 2_000;
/** Maximum size of a file. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Maximum total size of all unpacked files. */
export const MAX_TOTAL_BYTES = 100 * 1024 * 1024;
