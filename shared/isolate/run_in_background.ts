/** The part of the edge runtime's global that functions may use. */
interface EdgeRuntimeGlobal {
  waitUntil(work: Promise<unknown>): void;
}

/**
 * Lets `work` go on after the answer was sent: the edge runtime keeps the isolate until it
 * settles. Elsewhere the process itself does. For work that may be lost with the isolate only.
 */
export function runInBackground(work: Promise<unknown>): void {
  edgeRuntime()?.waitUntil(work);
}

function edgeRuntime(): EdgeRuntimeGlobal | undefined {
  const runtime: unknown = Reflect.get(globalThis, "EdgeRuntime");
  // Defined by the platform; nothing else puts a global of this name there.
  return runtime as EdgeRuntimeGlobal | undefined;
}
