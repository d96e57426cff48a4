import { join } from "node:path";
import { withHint } from "../shared/platform/errors/with_hint.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { usePlatform } from "./cli/use_database.ts";
import { loadYaml } from "./deps.ts";
import { importSkills, type SkillImport } from "./skills/import_skills.ts";
import { readSkillFiles } from "./skills/read_skill_files.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { yamlParser } from "./yaml/parse_yaml.ts";
import { writeError, writeLine, writeProgress } from "./terminal.ts";

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

  const parseYaml = yamlParser(await loadYaml());
  writeProgress(`Reading ${source} …`);
  const files = await readSkillFiles(source);
  return await usePlatform(url, { applicationName: "skills-import" }, async (sql) => {
    const read = await importSkills(sql, files, parseYaml);
    const pathOf = ({ path, line }: SkillImport["warnings"][number]) =>
      `${join(source, path)}:${line}`;
    if (values.json) writeLine(toJson(read, pathOf));
    else if (read.skills.length > 0) writeLine(toText(read));
    for (const one of read.warnings) writeError(`warning: ${pathOf(one)}: ${one.message}`);
    for (const one of read.refused) {
      writeError(`not imported: ${withHint(`${pathOf(one)}: ${one.message}`, one.hint)}`);
    }
    return read.refused.length > 0 ? 1 : 0;
  });
});

type PathOf = (place: SkillImport["warnings"][number]) => string;

function toJson({ skills, refused, warnings }: SkillImport, pathOf: PathOf): string {
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
    refused: refused.map((one) => ({ at: pathOf(one), problem: one.message, hint: one.hint })),
    warnings: warnings.map((one) => ({ at: pathOf(one), problem: one.message })),
  });
}

function toText({ skills }: SkillImport): string {
  return skills.map((skill) => {
    const fields = skill.changedFields.length > 0 ? ` (${skill.changedFields.join(", ")})` : "";
    const left = skill.notImported.length > 0 ? `, without ${skill.notImported.join(", ")}` : "";
    return `${skill.change.padEnd(9)}  ${skill.skillId}  ${skill.version}${fields}, ` +
      `${skill.resourceCount} resources${left}`;
  }).join("\n");
}
