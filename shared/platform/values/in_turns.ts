/** How long work runs before other work of the isolate gets a turn. */
const TURN_MS = 20;

/**
 * Runs work in steps and yields to the event loop every 20 ms, so that a large input of one caller
 * does not block the others.
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

/** Runs all of the work without yielding, for small inputs. */
export function atOnce<T>(work: Generator<void, T>): T {
  while (true) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
