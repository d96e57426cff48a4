import type { RegistryDefinition } from "../../shared/engine/definitions/definition.ts";

const BEGIN = "-- Generated from agents/ by `deno task generate schemas`.\n";
const END = "-- End of the generated part.\n";

/**
 * Replaces the generated part of the seed: the statement that writes the definitions of files.
 *
 * @throws Error when the seed has no such part.
 */
export function withSeededDefinitions(
  seed: string,
  definitions: readonly RegistryDefinition[],
): string {
  const from = seed.indexOf(BEGIN);
  const to = seed.indexOf(END);
  if (from < 0 || to < from) throw new Error(`Cannot write the seed: it lacks the line ${BEGIN}`);
  const json = JSON.stringify(definitions, null, 2);
  if (json.includes("$definitions$")) throw new Error("Cannot quote the definitions in SQL");
  const statement = `select private.seed_definitions($definitions$\n${json}\n$definitions$);\n`;
  return seed.slice(0, from + BEGIN.length) + statement + seed.slice(to);
}
