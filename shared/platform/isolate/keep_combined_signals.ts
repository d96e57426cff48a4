/**
 * Makes `AbortSignal.any()` keep its result for as long as one of the given signals exists.
 *
 * The edge runtime's Deno (2.1.4) collects a combined signal as garbage although it has listeners.
 * A timeout or a cancellation then never arrives, and whatever waits for it waits forever.
 */
export function keepCombinedSignals(): void {
  const combine = AbortSignal.any.bind(AbortSignal);
  const combinedFrom = new WeakMap<AbortSignal, Set<AbortSignal>>();
  AbortSignal.any = (signals) => {
    const sources = [...signals];
    const combined = combine(sources);
    if (combined.aborted) return combined;
    const kept = sources.map((source) => {
      const set = combinedFrom.get(source) ?? new Set();
      combinedFrom.set(source, set.add(combined));
      return set;
    });
    combined.addEventListener("abort", () => {
      for (const set of kept) set.delete(combined);
    }, { once: true });
    return combined;
  };
}
