import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import { findSkills } from "../../shared/engine/skills/find_skills.ts";
import { parseSkill, type SkillWarning } from "../../shared/engine/skills/parse_skill.ts";
import type { ParseYaml } from "../../shared/engine/skills/parse_yaml.ts";
import { skillProblem } from "../../shared/engine/skills/skill_problem.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { ParsedSkill, SkillFile } from "../../shared/engine/skills/skill.ts";
import { toStorableJson, toStorableText } from "../../shared/platform/values/storable_json.ts";

/** The result of an import for one skill. */
export interface ImportedSkill {
  readonly skillId: string;
  readonly name: string;
  readonly version: string;
  readonly change: "created" | "updated" | "unchanged";
  /** Columns that the import changed. */
  readonly changedFields: readonly string[];
  readonly resourceCount: number;
  /** Files that were not imported, such as images. */
  readonly notImported: readonly string[];
}

/** A skill that could not be imported. */
export interface RefusedSkill extends SkillWarning {
  readonly hint: string;
}

/** The result of an import: what was written, what was not, and what was not read as it is written. */
export interface SkillImport {
  readonly skills: readonly ImportedSkill[];
  readonly refused: readonly RefusedSkill[];
  readonly warnings: readonly SkillWarning[];
}

const storedRow = z.object({
  name: z.string(),
  description: z.string(),
  version: z.string().nullable(),
  instructions: z.string().nullable(),
  resources: z.unknown(),
  metadata: z.unknown(),
});

/**
 * Imports the skills of a tree of files into the registry, in one transaction. Those that cannot be
 * read do not keep out the others. A repeated import changes nothing.
 *
 * @throws SKILL_INVALID if the files have no skill, or a path leads out of them;
 * DATABASE_UNAVAILABLE
 */
export async function importSkills(
  sql: Sql,
  files: readonly SkillFile[],
  parseYaml: ParseYaml,
): Promise<SkillImport> {
  const { skills, refused, warnings } = readSkills(files, parseYaml);
  try {
    return await sql.begin(async (transaction) => {
      const imported: ImportedSkill[] = [];
      for (const skill of skills) imported.push(await importSkill(transaction, skill));
      return { skills: imported, refused, warnings };
    });
  } catch (error) {
    throw toSwarmError(error, "import the skills");
  }
}

function readSkills(files: readonly SkillFile[], parseYaml: ParseYaml) {
  const skills = new Map<string, ParsedSkill>();
  const refused: RefusedSkill[] = [];
  const warnings: SkillWarning[] = [];
  for (const folder of findSkills(files)) {
    const found: SkillWarning[] = [];
    const place = { path: `${folder.path}/SKILL.md`.replace(/^\//, ""), line: 1 };
    try {
      const skill = parseSkill(folder.files, parseYaml, {
        path: folder.path,
        warn: (one) => found.push(one),
      });
      if (skills.has(skill.skillId)) {
        const message = `name: another folder has the skill ${skill.skillId}, too; it is used`;
        warnings.push({ ...place, message });
        continue;
      }
      skills.set(skill.skillId, skill);
      warnings.push(...found);
    } catch (error) {
      if (!(error instanceof SwarmError)) throw error;
      refused.push({ ...place, ...skillProblem(error), hint: error.hint });
    }
  }
  return { skills: [...skills.values()], refused, warnings };
}

type Transaction = Parameters<Parameters<Sql["begin"]>[1]>[0];

async function importSkill(sql: Transaction, skill: ParsedSkill): Promise<ImportedSkill> {
  const [row] = await sql`
    select name, description, version, instructions, resources, metadata
    from public.skills where skill_id = ${skill.skillId} for update`;
  const stored = row === undefined ? null : storedRow.parse(row);
  const { skillId, ...wanted } = skill;
  const changedFields = stored === null ? [] : changedFieldsOf(stored, wanted);
  if (stored === null || changedFields.length > 0) await upsert(sql, skill);
  return {
    skillId,
    name: skill.name,
    version: skill.version,
    change: stored === null ? "created" : changedFields.length > 0 ? "updated" : "unchanged",
    changedFields,
    resourceCount: Object.keys(skill.resources).length,
    notImported: notImportedOf(skill),
  };
}

async function upsert(sql: Transaction, skill: ParsedSkill): Promise<void> {
  await sql`
    insert into public.skills
      (skill_id, name, description, version, instructions, resources, metadata)
    values (
      ${skill.skillId}, ${skill.name}, ${skill.description}, ${skill.version},
      ${toStorableText(skill.instructions)}, ${sql.json(toStorableJson(skill.resources))},
      ${sql.json(toStorableJson(skill.metadata))})
    on conflict (skill_id) do update set
      name = excluded.name,
      description = excluded.description,
      version = excluded.version,
      instructions = excluded.instructions,
      resources = excluded.resources,
      metadata = excluded.metadata`;
}

function changedFieldsOf(
  stored: z.infer<typeof storedRow>,
  wanted: Omit<ParsedSkill, "skillId">,
): readonly string[] {
  return Object.entries(wanted)
    .filter(([field, value]) => canonical(Reflect.get(stored, field)) !== canonical(value))
    .map(([field]) => field);
}

/** Encodes JSON with sorted keys, because the database does not keep their order. */
function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, item) =>
      typeof item === "object" && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => a < b ? -1 : 1))
        : item,
  );
}

function notImportedOf({ metadata }: ParsedSkill): readonly string[] {
  const entries = metadata.not_imported;
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: { readonly path?: unknown }) => String(entry.path));
}
