/** Writes a size in MB with two digits, for example `2.50`. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2);
}
