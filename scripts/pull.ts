/** `deno task pull`: writes the registry as files. */
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "../shared/vendor/zod.js";
import { DEFINITION_KINDS, isEntryKind } from "../shared/engine/definitions/definition.ts";
import { readDefinitions } from "../shared/engine/definitions/read_definitions.ts";
import { writeDefinitions } from "../shared/engine/definitions/write_definitions.ts";
import { jsonObject } from "../shared/platform/values/json_schema.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { yamlParser } from "./yaml/parse_yaml.ts";
import { loadYaml } from "./deps.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

const rowsSchema = z.array(z.object({
  kind: z.enum(DEFINITION_KINDS),
  slug: z.string(),
  definition: jsonObject,
}));

/** The other names under which a push finds the definition of a file, if one of them exists. */
async function existingPath(folder: string, path: string): Promise<string> {
  const others = [
    path.replace(/^([^/]+)\.md$/, "$1/agent.md"),
    path.replace(/^((?:tools\/)?[^/]+)\.yaml$/, "$1.yml"),
  ];
  for (const other of others) {
    if (other !== path && await Deno.stat(join(folder, other)).then(() => true, () => false)) {
      return other;
    }
  }
  return path;
}

await runCommand({
  name: "deno task pull",
  summary:
    "Writes agents, HTTP and function tools, skills, alerts, row triggers, and the service's schedules and webhooks as files.",
  positionals: "[slug …]",
  options: {
    folder: { type: "string", placeholder: "PATH", help: "Where to. Default: agents." },
    "dry-run": { type: "boolean", help: "Name the files that would change, and write nothing." },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals }) => {
  const folder = values.folder ?? join(PROJECT_ROOT, "agents");
  const url = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));
  const yaml = await loadYaml();
  const { stringify } = yaml;
  const parseYaml = yamlParser(yaml);
  await usePlatform(url, { applicationName: "supaswarm pull" }, async (sql) => {
    const rows = rowsSchema.parse(
      await sql`select kind, slug, definition from private.definitions() order by kind, slug`,
    );
    const unknown = positionals.filter((slug) => !rows.some((row) => row.slug === slug));
    if (unknown.length > 0) {
      throw new CommandError(
        `Cannot pull ${unknown.join(", ")}: the registry has none of this name`,
      );
    }
    const wanted = positionals.length === 0
      ? rows
      // A file has all definitions of such a kind.
      : rows.filter(({ kind, slug }) =>
        positionals.includes(slug) ||
        rows.some((other) =>
          other.kind === kind && positionals.includes(other.slug) && isEntryKind(kind)
        )
      );
    const files = writeDefinitions(wanted, (value) => stringify(value));
    const { problems } = readDefinitions(files, parseYaml);
    for (const { path, message } of problems) writeLine(`not valid  ${path}: ${message}`);
    const changes: { path: string; change: "created" | "changed" | "unchanged" }[] = [];
    const definitionsOf = (path: string, bytes: Uint8Array) => {
      const { definitions, problems } = readDefinitions([{ path, bytes }], parseYaml);
      return problems.length > 0 ? null : definitions.toSorted((a, b) => a.slug < b.slug ? -1 : 1);
    };
    for (const file of files) {
      const path = await existingPath(folder, file.path);
      const target = join(folder, path);
      const before = await Deno.readFile(target).catch(() => null);
      const text = new TextDecoder().decode(file.bytes);
      // A file that defines the same keeps its comments and the order of its keys.
      const isSame = before !== null && (new TextDecoder().decode(before) === text ||
        isDeepStrictEqual(definitionsOf(path, before), definitionsOf(path, file.bytes) ?? []));
      const change = before === null ? "created" : isSame ? "unchanged" : "changed";
      changes.push({ path, change });
      if (values["dry-run"] || change === "unchanged") continue;
      await Deno.mkdir(dirname(target), { recursive: true });
      await Deno.writeTextFile(target, text);
    }
    writeLine(
      values.json
        ? JSON.stringify({ dry_run: values["dry-run"], files: changes })
        : changes.map(({ path, change }) => `${change.padEnd(10)} ${path}`).join("\n"),
    );
  });
});
