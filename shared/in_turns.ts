/** How long work goes on before other work of the isolate gets a turn. */
const TURN_MS = 20;

/**
 * Does work that comes in steps and gives the event loop a turn after every 20 ms of it, so that
 * a large input of one caller does not stop the others.
 */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  let startedAtMs = performance.now();
  while (true) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() - startedAtMs < TURN_MS) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    startedAtMs = performance.now();
  }
}

/** Does all of the work at once, where it is known to be little. */
export function atOnce<T>(work: Generator<void, T>): T {
  while (true) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
