/** `deno task import`: makes files of `agents/` from files that people have. */
import { join } from "node:path";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { importAgentFiles } from "./import/agents/import_agent_files.ts";
import { importToolFiles } from "./import/tools/import_tool_files.ts";
import { writeImport } from "./import/import_plan.ts";
import { importToJson, importToText } from "./import/report_import.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeError, writeLine } from "./terminal.ts";

const OPTIONS = {
  provider: {
    type: "string",
    placeholder: "NAME",
    help: "agents: a name of llm_providers. Default: that of a key in .env, else anthropic.",
  },
  models: {
    type: "string",
    placeholder: "a=b,c=d",
    help: "agents: models for the names in the files, such as opus=claude-sonnet-5-5.",
  },
  tools: {
    type: "string",
    placeholder: "a=b,c=d",
    help: "agents: tools of the project for those in the files, such as Read=files/read_file.",
  },
  operations: {
    type: "string",
    placeholder: "a,b",
    help: "tools: ids of operations, or methods with paths; * stands for any text. Default: all.",
  },
  server: { type: "string", placeholder: "URL", help: "tools: the address of the API." },
  secret: { type: "string", placeholder: "NAME", help: "tools: the secret's name in Vault." },
  name: { type: "string", placeholder: "SLUG", help: "tools: the slug of a curl command's tool." },
  folder: { type: "string", placeholder: "PATH", help: "Where to write. Default: agents." },
  force: { type: "boolean", help: "Replace existing files that have different contents." },
  "dry-run": { type: "boolean", help: "Show what would be written, and write nothing." },
  json: { type: "boolean", help: "Print the result as one line of JSON." },
} as const;

const KINDS = { agents: importAgentFiles, tools: importToolFiles } as const;

await runCommand({
  name: "deno task import",
  summary:
    "Makes agents/<slug>.md of subagent files of coding agents (agents <folder, archive or file>), and " +
    "agents/tools/<slug>.yaml of an OpenAPI document (tools <file or URL>) or a curl command " +
    '(tools "curl …"). Safe to repeat.',
  positionals: "<agents or tools> <source>",
  options: OPTIONS,
}, async ({ values, positionals: [kind = "", source, ...others] }) => {
  const plan = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined;
  if (plan === undefined || source === undefined || others.length > 0) {
    throw new CommandError(
      `Cannot import: name the kind and one source, such as ${Object.keys(KINDS)[0]} ./folder`,
    );
  }
  const folder = values.folder ?? join(PROJECT_ROOT, "agents");
  const isDryRun = values["dry-run"];
  const { written, refused, ignored } = await writeImport(
    await plan({ ...values, source, folder }),
    { folder, isDryRun, isForced: values.force },
  );
  const report = { written, refused, ignored, folder, source, isDryRun };
  writeLine(values.json ? importToJson(report) : importToText(report));
  for (const { at, problem } of refused) writeError(`not imported: ${at}: ${problem}`);
  return refused.length > 0 ? 1 : 0;
});
