/**
 * `deno task mcps:import`: creates an entry of `external-mcps.yaml` from a registry description.
 */
import { join } from "node:path";
import { readNamedFile } from "./files/read_named_file.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { loadYaml } from "./deps.ts";
import { entryOfRegistry } from "./mcps/entry_of_registry.ts";
import { readDescription } from "./mcps/read_description.ts";
import { readRegistryDocument } from "./mcps/registry_document.ts";
import { addEntry, entryToYaml } from "./mcps/write_entry.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeError, writeLine } from "./terminal.ts";

await runCommand({
  name: "deno task mcps:import",
  summary: "Turns a server.json of the public MCP registry into an entry of external-mcps.yaml.",
  positionals: "<server.json, or its URL>",
  options: {
    server: { type: "string", placeholder: "name", help: "The server, if there are several." },
    slug: { type: "string", placeholder: "key", help: "The entry's key. Default from its name." },
    set: {
      type: "string",
      placeholder: "a=1,b=2",
      help: "Values of variables that the description does not define.",
    },
    write: { type: "boolean", help: "Add the entry to the file instead of printing it." },
    file: {
      type: "string",
      placeholder: "path",
      help: "The list of servers. Default external-mcps.yaml of the project.",
    },
    json: { type: "boolean", help: "Print the entry as one line of JSON." },
  },
}, async ({ values, positionals }) => {
  const [source, ...others] = positionals;
  if (source === undefined || others.length > 0) {
    throw new CommandError("Cannot import: pass one server.json, by its path or URL");
  }
  const yaml = await loadYaml();
  const { server, status } = readRegistryDocument(await readDescription(source), values.server);
  const variables = readVariables(values.set);
  const imported = entryOfRegistry(server, { slug: values.slug, variables });
  const { slug, entry } = imported;
  const notes = status === null || status === "active"
    ? imported.notes
    : [`The registry calls this server ${status}.`, ...imported.notes];
  const text = entryToYaml(imported, yaml);
  const path = values.file ?? join(PROJECT_ROOT, "external-mcps.yaml");
  if (values.write) {
    const before = await readNamedFile(path);
    await replaceFile(path, addEntry(before, path, imported, yaml));
  }
  if (values.json) return writeLine(JSON.stringify({ slug, entry, notes, written: values.write }));
  writeLine(
    values.write ? `Added ${slug} to ${path}; deno task mcps:sync registers it.` : text.trimEnd(),
  );
  for (const note of notes) writeError(note);
});

function readVariables(text = ""): Record<string, string> {
  return Object.fromEntries(
    text.split(",").filter((pair) => pair !== "").map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new CommandError(`Cannot read --set ${pair}: use name=value`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** Replaces the file atomically. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  await Deno.writeTextFile(temporary, text);
  await Deno.rename(temporary, path);
}
