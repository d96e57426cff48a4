/** Evaluates the expression of a `javascript` assertion, without permissions. */
import type { JavascriptAnswer, JavascriptQuestion } from "./run_javascript.ts";

/** The two members of a worker's global scope in use. Deno's worker types are not loaded here. */
const scope = globalThis as unknown as {
  postMessage(answer: JavascriptAnswer): void;
  onmessage: (event: MessageEvent<JavascriptQuestion>) => void;
};

scope.onmessage = async ({ data: { code, output, context } }) => {
  try {
    const value = await compile(code)(output, context);
    scope.postMessage({ kind: "value", value });
  } catch (error) {
    scope.postMessage({ kind: "failed", message: String(error) });
  }
};

function compile(code: string): (output: unknown, context: unknown) => unknown {
  try {
    return new Function("output", "context", `return (async () => (${code}\n))();`) as never;
  } catch {
    // Statements, with a return.
    return new Function("output", "context", `return (async () => {${code}\n})();`) as never;
  }
}
