import { writeLine } from "../terminal.ts";
import type { WorkerOrder } from "./worker_process.ts";

/** Reads the worker process's order from its only argument. */
export function readOrder(): WorkerOrder {
  // Written by worker_process.ts alone.
  return JSON.parse(Deno.args[0] ?? "") as WorkerOrder;
}

/** Says that the worker serves. */
export function reportReady(): void {
  writeLine(JSON.stringify({ ready: true }));
}

/** Counts tasks and reports the moments that were asked for. */
export function createMomentReporter({ marks }: WorkerOrder): () => void {
  let count = 0;
  return () => {
    const atMs = performance.timeOrigin + performance.now();
    count++;
    if (isMarked(marks, count)) {
      writeLine(JSON.stringify({ count, at_ms: atMs }));
    }
  };
}

/** Resolves when whoever started this process closes its stdin. */
export async function untilDismissed(): Promise<void> {
  for await (const _chunk of Deno.stdin.readable) {
    // What is written to it means nothing.
  }
}

function isMarked(marks: WorkerOrder["marks"], place: number): boolean {
  if (marks === null) return true;
  return typeof marks === "number" ? place % marks === 0 : marks.includes(place);
}
