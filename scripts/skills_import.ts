import { fileURLToPath } from "node:url";
import { createSql } from "../shared/platform/db/sql_client.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { loadYaml } from "./deps.ts";
import { type ImportedSkill, importSkills } from "./skills/import_skills.ts";
import { readSkillFiles } from "./skills/read_skill_files.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine, writeProgress } from "./terminal.ts";

const PROJECT_ROOT = fileURLToPath(new URL("..", import.meta.url));

await runCommand({
  name: "deno task skills:import",
  summary: "Imports skills (folders with a SKILL.md) into the registry. Safe to repeat.",
  positionals: "<folder or archive>",
  options: {
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals }) => {
  const [source, ...others] = positionals;
  if (source === undefined || others.length > 0) {
    throw new CommandError("Cannot import: pass one folder or archive");
  }
  const url = await findDatabaseUrl(values.db, await readEnvironment(PROJECT_ROOT));

  const { parse } = await loadYaml();
  writeProgress(`Reading ${source} …`);
  const files = await readSkillFiles(source);
  const sql = createSql(url, { maxConnections: 1, applicationName: "skills-import" });
  try {
    const skills = await importSkills(sql, files, (text) => parse(text));
    writeLine(values.json ? toJson(skills) : toText(skills));
  } finally {
    await sql.end({ timeout: 1 });
  }
});

function toJson(skills: readonly ImportedSkill[]): string {
  return JSON.stringify({
    skills: skills.map((skill) => ({
      skill_id: skill.skillId,
      name: skill.name,
      version: skill.version,
      change: skill.change,
      changed_fields: skill.changedFields,
      resource_count: skill.resourceCount,
      not_imported: skill.notImported,
    })),
  });
}

function toText(skills: readonly ImportedSkill[]): string {
  return skills.map((skill) => {
    const fields = skill.changedFields.length > 0 ? ` (${skill.changedFields.join(", ")})` : "";
    const left = skill.notImported.length > 0 ? `, without ${skill.notImported.join(", ")}` : "";
    return `${skill.change.padEnd(9)}  ${skill.skillId}  ${skill.version}${fields}, ` +
      `${skill.resourceCount} resources${left}`;
  }).join("\n");
}
