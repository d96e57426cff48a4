import type { ModelUsage } from "./model_port.ts";

/** The combined usage of the requests for one answer. */
export function addUsage(first: ModelUsage, second: ModelUsage): ModelUsage {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]) as Set<keyof ModelUsage>;
  const sums = [...names].map((name) => [name, (first[name] ?? 0) + (second[name] ?? 0)] as const);
  return { ...first, ...second, ...Object.fromEntries(sums) };
}
