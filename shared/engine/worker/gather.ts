import { nextTurn } from "../../platform/isolate/next_turn.ts";

/**
 * Creates a function that batches calls: the first runs `runAll` in the next turn of the event loop,
 * together with all other calls of its turn, and calls during that run are batched into the next. A
 * call waits for at most one run, and batches grow with the load.
 *
 * @param runAll Returns one value per item, in order. If it throws, all of them fail.
 * @param maxCount Maximum number of items per run.
 */
export function gather<Item, Value>(
  runAll: (items: readonly Item[]) => Promise<readonly Value[]>,
  maxCount: number,
): (item: Item) => Promise<Value> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (value: Value) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let isRunning = false;

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    waiting.push({ item, resolve, reject });
    if (!isRunning) void runWaiting();
    return promise;
  };

  async function runWaiting(): Promise<void> {
    isRunning = true;
    // A run has fixed costs, and work that a worker claimed together often ends in the same turn.
    await nextTurn();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxCount);
      waiting = waiting.slice(maxCount);
      try {
        const values = await runAll(batch.map(({ item }) => item));
        for (const [index, value] of values.entries()) batch[index]?.resolve(value);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }
}
