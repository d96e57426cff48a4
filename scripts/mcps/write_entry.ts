import { CommandError } from "../cli/run_command.ts";
import type { YamlModule } from "../deps.ts";
import type { ImportedEntry } from "./entry_of_registry.ts";
import { readMcpsFile } from "./read_mcps_file.ts";

/** An entry as it stands in the file. */
export function entryToYaml({ slug, entry }: ImportedEntry, yaml: YamlModule): string {
  const text = yaml.stringify({ mcps: { [slug]: entry } }, { lineWidth: 0 });
  // What somebody else described is checked like what a person wrote.
  readMcpsFile(text, "the description", yaml);
  return text;
}

/**
 * The file's text with one entry more; comments and order stay.
 *
 * @throws CommandError when the file has an entry of that key; McpsFileError when either is wrong.
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
      `${fileName} has an entry '${slug}' already; name the new one with --slug`,
    );
  }
  const document = yaml.parseDocument(text);
  if (!yaml.isMap(document.get("mcps", true))) document.set("mcps", document.createNode({}));
  document.setIn(["mcps", slug], document.createNode(entry));
  const mcps = document.get("mcps");
  // An empty `{}` would go on in one line.
  if (yaml.isMap(mcps)) mcps.flow = false;
  const written = document.toString({ lineWidth: 0 });
  readMcpsFile(written, fileName, yaml);
  return written;
}
