/** The part of the edge runtime's global that functions may use. */
interface EdgeRuntimeGlobal {
  waitUntil(work: Promise<unknown>): void;
}

/**
 * Continues `work` after the response was sent: the edge runtime keeps the isolate until it
 * settles; elsewhere the process does. Only for work that may be lost with the isolate.
 */
export function runInBackground(work: Promise<unknown>): void {
  edgeRuntime()?.waitUntil(work);
}

function edgeRuntime(): EdgeRuntimeGlobal | undefined {
  const runtime: unknown = Reflect.get(globalThis, "EdgeRuntime");
  // Defined only by the platform.
  return runtime as EdgeRuntimeGlobal | undefined;
}
