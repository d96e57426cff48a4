import type { WriteYaml } from "../../../shared/engine/definitions/definition.ts";
import { fileText } from "../../../shared/engine/definitions/write_definitions.ts";
import { decodeText } from "../../../shared/engine/skills/decode_text.ts";
import type { ParseYaml } from "../../../shared/engine/skills/parse_yaml.ts";
import type { SkillFile } from "../../../shared/engine/skills/skill.ts";
import { skillProblem } from "../../../shared/engine/skills/skill_problem.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { isJsonObject } from "../../../shared/platform/values/json.ts";
import { freeSlug } from "../free_slug.ts";
import { pushProblem } from "../push_problem.ts";
import type { ImportedFile, ImportPlan, RefusedPart } from "../import_plan.ts";
import { type ConvertedAgent, convertSubagent, type SubagentSettings } from "./convert_subagent.ts";

/** Folders of collections whose Markdown files have front matter, but are no subagents. */
const OTHER_FOLDER =
  /(^|\/)(\.git|node_modules|commands|skills|prompts|instructions|rules|hooks|templates)\//i;
/** A file that is about the collection. */
const ABOUT = /(^|\/)(README|CLAUDE|AGENTS|CONTRIBUTING|CHANGELOG|LICENSE|SKILL)(\.\w+)?\.md$/i;
const STARTS_FRONT_MATTER = /^\uFEFF?\s*---[ \t]*[\r\n]/;

/** How files become text and back. */
export interface YamlForms {
  readonly parseYaml: ParseYaml;
  readonly writeYaml: WriteYaml;
}

/**
 * Converts the subagent files of a tree to files of `agents/`, as `push` accepts them. A file that
 * cannot be converted does not prevent the import of the others.
 */
export function importAgents(
  files: readonly SkillFile[],
  settings: SubagentSettings,
  { parseYaml, writeYaml }: YamlForms,
): ImportPlan {
  const imported: ImportedFile[] = [];
  const refused: RefusedPart[] = [];
  const ignored: string[] = [];
  const slugs = new Set<string>();
  const texts = new Set<string>();
  for (const { path, bytes } of [...files].sort((a, b) => a.path < b.path ? -1 : 1)) {
    if (!/\.(md|markdown)$/i.test(path)) continue;
    try {
      const text = decodeText(bytes);
      if (OTHER_FOLDER.test(path) || ABOUT.test(path) || !STARTS_FRONT_MATTER.test(text)) {
        ignored.push(path);
        continue;
      }
      const agent = convertSubagent({ path, text }, settings, parseYaml);
      if (agent.fields.description === undefined && !agent.isNamed) {
        ignored.push(path);
        continue;
      }
      const same = JSON.stringify([agent.fields, agent.prompt]);
      // Collections have the same file in several folders.
      if (texts.has(same)) {
        ignored.push(path);
        continue;
      }
      const problem = pushProblem(`${agent.slug}.md`, agentText(agent, writeYaml), parseYaml);
      if (problem !== null) {
        refused.push({ at: path, problem });
        continue;
      }
      texts.add(same);
      imported.push(fileOf(agent, path, slugs, writeYaml));
    } catch (error) {
      if (error instanceof SwarmError) refused.push(refusal(path, error));
      else if (error instanceof TypeError) {
        refused.push({ at: path, problem: "it is not UTF-8 text" });
      } else throw error;
    }
  }
  return { files: imported, refused, ignored };
}

function fileOf(
  agent: ConvertedAgent,
  source: string,
  taken: Set<string>,
  writeYaml: WriteYaml,
): ImportedFile {
  const slug = freeSlug(agent.slug, taken);
  const notes = slug === agent.slug
    ? agent.notes
    : [...agent.notes, `named ${slug}, because another file is ${agent.slug}`];
  return {
    path: `${slug}.md`,
    source,
    text: agentText({ ...agent, slug, fields: { ...agent.fields, name: slug } }, writeYaml),
    leftOut: agent.leftOut,
    notes,
  };
}

function agentText({ fields, prompt }: ConvertedAgent, writeYaml: WriteYaml): string {
  const json: unknown = JSON.parse(JSON.stringify(fields));
  return fileText({ fields: isJsonObject(json) ? json : {}, text: prompt }, writeYaml);
}

function refusal(path: string, error: SwarmError): RefusedPart {
  const { line = 1, message } = skillProblem(error);
  return { at: `${path}:${line}`, problem: message };
}
