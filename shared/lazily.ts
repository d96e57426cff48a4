/** Makes a function that calls `load` once, when its result is first needed. */
export function lazily<T>(load: () => T): () => T {
  let loaded: { readonly value: T } | null = null;
  return () => (loaded ??= { value: load() }).value;
}
