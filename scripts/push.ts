/** `deno task push`: writes the definitions of files into the registry. */
import { join } from "node:path";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { loadDiff, loadYaml } from "./deps.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { pushDefinitions } from "./push/push_definitions.ts";
import { readPushFiles } from "./push/read_push_files.ts";
import { pushToJson, pushToText } from "./push/report_push.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeError, writeLine, writeProgress } from "./terminal.ts";

await runCommand({
  name: "deno task push",
  summary:
    "Writes agents/, and external-mcps.yaml, into the registry in one transaction: all, or only the " +
    "named definitions. Safe to repeat.",
  positionals: "[slug …]",
  options: {
    "dry-run": { type: "boolean", help: "Show what would change, and change nothing." },
    prune: {
      type: "boolean",
      help: "Remove what earlier pushes created and no file defines any more.",
    },
    folder: { type: "string", placeholder: "PATH", help: "The files. Default: agents." },
    mcps: {
      type: "string",
      placeholder: "PATH",
      help: "The list of MCP servers. Default: external-mcps.yaml, if it exists.",
    },
    by: { type: "string", placeholder: "NAME", help: "Who pushes. Default: USER." },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals: slugs }) => {
  const environment = await readEnvironment(PROJECT_ROOT);
  const isPartial = slugs.length > 0;
  if (isPartial && values.prune) {
    throw new CommandError("Cannot push with --prune and names: it compares all files");
  }
  const files = await readPushFiles({
    folder: values.folder ?? join(PROJECT_ROOT, "agents"),
    mcps: {
      path: values.mcps ?? join(PROJECT_ROOT, "external-mcps.yaml"),
      isRequired: values.mcps !== undefined,
    },
    environment,
  });
  for (const { at, message } of files.warnings) writeError(`warning    ${at}: ${message}`);
  const unknown = slugs.filter((slug) => !files.definitions.some((one) => one.slug === slug));
  if (unknown.length > 0) {
    throw new CommandError(`Cannot push ${unknown.join(", ")}: no file defines it`);
  }
  const definitions = files.definitions.filter(({ slug }) => !isPartial || slugs.includes(slug));
  const url = await findDatabaseUrl(values.db, environment);
  const isDryRun = values["dry-run"];
  writeProgress(`Comparing ${definitions.length} definitions with the registry …`);
  await usePlatform(url, { applicationName: "supaswarm push" }, async (sql) => {
    const whole = await pushDefinitions(sql, {
      definitions,
      servers: isPartial ? null : files.servers,
      isPruning: values.prune,
      isDryRun,
      pushedBy: values.by ?? environment["USER"] ?? "unknown",
    });
    // Unnamed definitions are not leftovers.
    const changes = whole.changes.filter(({ change }) => !isPartial || change !== "left");
    const plan = { ...whole, changes };
    if (values.json) return writeLine(pushToJson(plan, isDryRun, files.warnings));
    const { stringify } = await loadYaml();
    const { createTwoFilesPatch } = await loadDiff();
    writeLine(pushToText(plan, isDryRun, {
      writeYaml: (value) => stringify(value),
      diff: (path, before, after) =>
        createTwoFilesPatch(`database/${path}`, `files/${path}`, before, after, "", "", {
          context: 2,
        }).replace(/^=+\n/, ""),
    }));
  });
});
