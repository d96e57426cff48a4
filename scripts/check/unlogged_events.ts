/**
 * Finds the events of a catalog that no source logs. The opposite, a logged event that the catalog
 * lacks, is an error of types.
 */
export function unloggedEvents(events: readonly string[], sources: readonly string[]): string[] {
  const text = sources.join("\n");
  return events.filter((event) => !text.includes(`"${event}"`) && !isBuilt(event, text))
    .map((event) => `shared/platform/log/log_events.ts: nothing logs ${event}`);
}

/** `${kind.noun}.run_ended` is built from the noun of a kind of work. */
function isBuilt(event: string, text: string): boolean {
  const [noun, name] = event.split(".");
  return text.includes(`noun: "${noun}"`) && text.includes(`\${kind.noun}.${name}\``);
}
