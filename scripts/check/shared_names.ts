const EXPORTED = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm;

/** Finds names that several modules export for different things, by the path of each module. */
export function sharedNames(sources: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, Set<string>>();
  for (const [path, source] of sources) {
    for (const [, name = ""] of source.matchAll(EXPORTED)) {
      places.set(name, (places.get(name) ?? new Set()).add(path));
    }
  }
  return [...places].filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name} is exported by ${[...paths].join(" and ")}`);
}
