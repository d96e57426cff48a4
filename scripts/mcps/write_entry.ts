import { CommandError } from "../cli/run_command.ts";
import type { YamlModule } from "../deps.ts";
import type { ImportedEntry } from "./entry_of_registry.ts";
import { readMcpsFile } from "./read_mcps_file.ts";

/** Writes an entry in the format of the file. */
export function entryToYaml({ slug, entry }: ImportedEntry, yaml: YamlModule): string {
  const text = yaml.stringify({ mcps: { [slug]: entry } }, { lineWidth: 0 });
  // Check an imported description like a handwritten entry.
  readMcpsFile(text, "the description", yaml);
  return text;
}

/**
 * Adds an entry to the file's text. Keeps comments and order.
 *
 * @throws CommandError when the file has an entry with that key; YamlFileError when either is
 * invalid.
 */
export function addEntry(
  text: string,
  fileName: string,
  { slug, entry }: ImportedEntry,
  yaml: YamlModule,
): string {
  const known = readMcpsFile(text, fileName, yaml);
  if (known.some((other) => other.slug === slug)) {
    throw new CommandError(
      `Cannot add '${slug}': ${fileName} already has this entry. Pass another key with --slug`,
    );
  }
  const document = yaml.parseDocument(text);
  if (!yaml.isMap(document.get("mcps", true))) document.set("mcps", document.createNode({}));
  document.setIn(["mcps", slug], document.createNode(entry));
  const mcps = document.get("mcps");
  // An empty `{}` would keep the flow style.
  if (yaml.isMap(mcps)) mcps.flow = false;
  const written = document.toString({ lineWidth: 0 });
  readMcpsFile(written, fileName, yaml);
  return written;
}
