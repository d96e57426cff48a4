import { writeLine } from "../../scripts/terminal.ts";
import type { WorkerOrder } from "./worker_process.ts";

/** Reads the worker's settings from the only argument of the process. */
export function readOrder(): WorkerOrder {
  // No validation: only worker_process.ts writes it.
  return JSON.parse(Deno.args[0] ?? "") as WorkerOrder;
}

/** Reports that the worker serves. */
export function reportReady(): void {
  writeLine(JSON.stringify({ ready: true }));
}

/** Counts tasks and reports the requested start times. */
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

/** Resolves when the parent process closes stdin. */
export async function untilStdinEnds(): Promise<void> {
  for await (const _chunk of Deno.stdin.readable) {
    // Ignore the content.
  }
}

function isMarked(marks: WorkerOrder["marks"], place: number): boolean {
  if (marks === null) return true;
  return typeof marks === "number" ? place % marks === 0 : marks.includes(place);
}
