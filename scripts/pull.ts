/** `deno task pull`: writes the registry as files. */
import { dirname, join } from "node:path";
import { z } from "../shared/vendor/zod.js";
import { createSql } from "../shared/platform/db/sql_client.ts";
import { DEFINITION_KINDS, isEntryKind } from "../shared/engine/definitions/definition.ts";
import { readDefinitions } from "../shared/engine/definitions/read_definitions.ts";
import { writeDefinitions } from "../shared/engine/definitions/write_definitions.ts";
import { jsonObject } from "../shared/platform/values/json_schema.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { loadYaml } from "./deps.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

const rowsSchema = z.array(z.object({
  kind: z.enum(DEFINITION_KINDS),
  slug: z.string(),
  definition: jsonObject,
}));

await runCommand({
  name: "deno task pull",
  summary:
    "Writes agents, HTTP and function tools, skills, alerts, and the service's schedules and webhooks as files.",
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
  const { parse, stringify } = await loadYaml();
  const sql = createSql(url, { maxConnections: 1, applicationName: "supaswarm pull" });
  try {
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
    const { problems } = readDefinitions(files, (text) => parse(text));
    for (const { path, message } of problems) writeLine(`not valid  ${path}: ${message}`);
    const changes: { path: string; change: "created" | "changed" | "unchanged" }[] = [];
    for (const { path, bytes } of files) {
      const target = join(folder, path);
      const before = await Deno.readTextFile(target).catch(() => null);
      const text = new TextDecoder().decode(bytes);
      const change = before === null ? "created" : before === text ? "unchanged" : "changed";
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
  } finally {
    await sql.end({ timeout: 1 });
  }
});
