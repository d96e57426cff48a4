import { isJsonObject } from "../../platform/values/json.ts";
import {
  type DefinitionFile,
  ENTRY_KINDS,
  type RegistryDefinition,
  type WriteYaml,
} from "./definition.ts";
import { type FileParts, partsOfDefinition } from "./file_parts.ts";

/**
 * Writes definitions as the files that define them, the reverse of {@linkcode readDefinitions}:
 * reading the result gives the same definitions.
 */
export function writeDefinitions(
  definitions: readonly RegistryDefinition[],
  writeYaml: WriteYaml,
): DefinitionFile[] {
  const files = new Map<string, string>();
  for (const one of definitions) {
    const { kind, slug, definition } = one;
    const text = fileText(partsOfDefinition(one), writeYaml);
    if (kind === "agent") files.set(`${slug}.md`, text);
    if (kind === "tool") files.set(`tools/${slug}.yaml`, text);
    if (kind !== "skill") continue;
    files.set(`skills/${slug}/SKILL.md`, text);
    const { resources } = definition;
    for (const [path, content] of Object.entries(isJsonObject(resources) ? resources : {})) {
      files.set(`skills/${slug}/${path}`, String(content));
    }
  }
  for (const kind of ENTRY_KINDS) {
    const entries = definitions.filter((one) => one.kind === kind)
      .map((one) => [one.slug, partsOfDefinition(one).fields] as const);
    if (entries.length > 0) files.set(`${kind}s.yaml`, writeYaml(Object.fromEntries(entries)));
  }
  const encoder = new TextEncoder();
  return [...files].map(([path, text]) => ({ path, bytes: encoder.encode(text) }));
}

/** The text of a file with these parts. */
export function fileText({ fields, text }: FileParts, writeYaml: WriteYaml): string {
  const yaml = writeYaml(fields);
  return text === null ? yaml : `---\n${yaml}---\n\n${text}\n`;
}
