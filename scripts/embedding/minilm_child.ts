/**
 * The process that runs MiniLM. It reads one JSON line per text on stdin and writes one line with
 * the vector to stdout, in order. The model blocks its process while it works. The process exits
 * when its stdin ends.
 *
 * Arguments: the packages of the engine and of the model. They are not imports in the source, so
 * that checking or caching the project does not download them.
 */
import { readLines } from "../../stack/functions/read_lines.ts";
import type { MinilmAnswer, MinilmRequest } from "./minilm_process.ts";

interface Engine {
  embed(texts: readonly string[]): Promise<number[][]>;
}

const encoder = new TextEncoder();
const [enginePackage = "", modelPackage = ""] = Deno.args;

// Signals often reach the whole process group, but the stack decides when this process stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  if (Deno.build.os !== "windows") Deno.addSignalListener(signal, () => {});
}

const engine = await loadEngine();
for await (const line of readLines(Deno.stdin.readable)) {
  if (line !== "") write(await answer(JSON.parse(line)));
}
Deno.exit(0);

async function loadEngine(): Promise<Engine> {
  const { createEmbedder } = await import(enginePackage);
  const { default: model } = await import(modelPackage);
  return await createEmbedder({ model });
}

async function answer({ text }: MinilmRequest): Promise<MinilmAnswer> {
  try {
    const [vector] = await engine.embed([text]);
    return vector === undefined ? { error: "the engine returned no vector" } : { vector };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function write(message: MinilmAnswer): void {
  let bytes = encoder.encode(`${JSON.stringify(message)}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}
