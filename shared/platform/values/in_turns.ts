/** How long work runs before other work of the isolate gets a turn. */
const TURN_MS = 20;

/** Ends when the work that yielded last may go on. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Yields to the event loop. Work that yields goes on one after the other, each in its own turn: a
 * request that waits several times during the work of many others waits for one of them each time,
 * not for all.
 */
export function yieldTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => void setTimeout(resolve, 0)));
  return lastTurn;
}

/**
 * For a loop over work of any size: await the returned function before each step, and it yields to
 * the event loop when 20 ms have passed since the last time.
 */
export function createTurns(): () => Promise<void> {
  let startedAtMs = performance.now();
  return async () => {
    if (performance.now() - startedAtMs < TURN_MS) return;
    await yieldTurn();
    startedAtMs = performance.now();
  };
}

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
    await yieldTurn();
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
