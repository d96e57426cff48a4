/**
 * Makes a function that gathers calls: the first runs `runAll` at once, and those that come while
 * it runs go together into the next. Nobody waits longer than for one run, and the busier it is,
 * the more share one.
 *
 * @param runAll Answers one value for each item, in their order. When it throws, all of them fail.
 * @param maxCount Most items at once.
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
    // Whatever ends in the same turn of the event loop goes together.
    await Promise.resolve();
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
