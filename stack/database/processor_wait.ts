/**
 * Returns a function that returns for how many milliseconds the main thread of a process has waited
 * for a processor since its last call. Always 0 where the operating system does not report it.
 */
export function readsProcessorWait(pid: number): () => number {
  let knownMs = waitedMs(pid);
  return () => {
    const nowMs = waitedMs(pid);
    const sinceMs = nowMs - knownMs;
    knownMs = nowMs;
    return Math.max(0, sinceMs);
  };
}

/** Reads the second number of `schedstat`, in nanoseconds. Only Linux has the file. */
function waitedMs(pid: number): number {
  try {
    const [, nanoseconds] = Deno.readTextFileSync(`/proc/${pid}/schedstat`).split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}
