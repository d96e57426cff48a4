/** `deno task push`: writes the definitions of files into the registry. */
import { join } from "node:path";
import { createSql } from "../shared/platform/db/sql_client.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { runCommand } from "./cli/run_command.ts";
import { loadDiff, loadYaml } from "./deps.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { pushDefinitions } from "./push/push_definitions.ts";
import { readPushFiles } from "./push/read_push_files.ts";
import { pushToJson, pushToText } from "./push/report_push.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine, writeProgress } from "./terminal.ts";

await runCommand({
  name: "deno task push",
  summary:
    "Writes agents/, and external-mcps.yaml, into the registry in one transaction. Safe to repeat.",
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
}, async ({ values }) => {
  const environment = await readEnvironment(PROJECT_ROOT);
  const { definitions, servers } = await readPushFiles({
    folder: values.folder ?? join(PROJECT_ROOT, "agents"),
    mcps: {
      path: values.mcps ?? join(PROJECT_ROOT, "external-mcps.yaml"),
      isRequired: values.mcps !== undefined,
    },
    environment,
  });
  const url = await findDatabaseUrl(values.db, environment);
  const isDryRun = values["dry-run"];
  writeProgress(`Comparing ${definitions.length} definitions with the registry …`);
  const sql = createSql(url, { maxConnections: 1, applicationName: "supaswarm push" });
  try {
    const plan = await pushDefinitions(sql, {
      definitions,
      servers,
      isPruning: values.prune,
      isDryRun,
      pushedBy: values.by ?? environment["USER"] ?? "unknown",
    });
    if (values.json) return writeLine(pushToJson(plan, isDryRun));
    const { stringify } = await loadYaml();
    const { createTwoFilesPatch } = await loadDiff();
    writeLine(pushToText(plan, isDryRun, {
      writeYaml: (value) => stringify(value),
      diff: (path, before, after) =>
        createTwoFilesPatch(`database/${path}`, `files/${path}`, before, after, "", "", {
          context: 2,
        }).replace(/^=+\n/, ""),
    }));
  } finally {
    await sql.end({ timeout: 1 });
  }
});
