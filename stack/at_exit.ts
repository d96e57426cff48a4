/**
 * Calls `end` if this process exits by itself before the returned function was called, for example
 * because a person did not want to wait for an orderly end. It must be synchronous.
 */
export function atExit(end: () => void): () => void {
  globalThis.addEventListener("unload", end);
  return () => globalThis.removeEventListener("unload", end);
}
