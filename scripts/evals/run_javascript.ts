import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";

/** What a worker evaluates. */
export interface JavascriptQuestion {
  readonly code: string;
  readonly output: JsonValue;
  readonly context: JsonObject;
}

/** What it answers. */
export type JavascriptAnswer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "failed"; readonly message: string };

const DEFAULT_LIMIT_MS = 5_000;

/**
 * Evaluates an expression, or statements that return, in a worker without permissions. Never throws:
 * an error, also a value that cannot leave the worker, is an answer.
 *
 * @param limitMs Time after which the worker is ended, its start included. @default 5_000
 */
export async function runJavascript(
  question: JavascriptQuestion,
  limitMs = DEFAULT_LIMIT_MS,
): Promise<JavascriptAnswer> {
  const worker = new Worker(import.meta.resolve("./javascript_worker.ts"), {
    type: "module",
    deno: { permissions: "none" },
  });
  const { promise, resolve } = Promise.withResolvers<JavascriptAnswer>();
  const fail = (message: string) => resolve({ kind: "failed", message });
  const timer = setTimeout(() => fail(`it did not end within ${limitMs} ms`), limitMs);
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    fail(event.message);
  };
  worker.postMessage(question);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
