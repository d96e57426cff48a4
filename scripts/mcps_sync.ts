/** `deno task mcps:sync`: synchronizes the registry with `external-mcps.yaml`. */
import { basename, join } from "node:path";
import { readNamedFile } from "./files/read_named_file.ts";
import { runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { usePlatform } from "./cli/use_database.ts";
import { loadYaml } from "./deps.ts";
import { readMcpsFile } from "./mcps/read_mcps_file.ts";
import { syncToJson, syncToText } from "./mcps/report_sync.ts";
import { syncMcps } from "./mcps/sync_mcps.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine, writeProgress } from "./terminal.ts";

await runCommand({
  name: "deno task mcps:sync",
  summary: "Synchronizes the registry and Vault with external-mcps.yaml. Safe to repeat.",
  options: {
    "dry-run": { type: "boolean", help: "Show the difference and change nothing." },
    file: {
      type: "string",
      placeholder: "path",
      help: "The list of servers. Default external-mcps.yaml of the project.",
    },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values }) => {
  const path = values.file ?? join(PROJECT_ROOT, "external-mcps.yaml");
  const fileName = values.file ?? basename(path);
  const text = await readNamedFile(path);
  const entries = readMcpsFile(text, fileName, await loadYaml());
  const environment = await readEnvironment(PROJECT_ROOT);
  const url = await findDatabaseUrl(values.db, environment);

  const isDryRun = values["dry-run"];
  writeProgress(`Comparing ${fileName} with the registry …`);
  await usePlatform(url, { applicationName: "mcps-sync" }, async (sql) => {
    const plan = await syncMcps(sql, { fileName, entries, environment, isDryRun });
    writeLine(values.json ? syncToJson(plan, isDryRun) : syncToText(plan, isDryRun));
  });
});
