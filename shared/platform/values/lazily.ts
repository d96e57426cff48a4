/** Creates a function that calls `load` once, on first use. */
export function lazily<T>(load: () => T): () => T {
  let loaded: { readonly value: T } | null = null;
  return () => (loaded ??= { value: load() }).value;
}
