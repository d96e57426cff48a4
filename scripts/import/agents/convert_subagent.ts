import { agentFileSchema } from "../../../shared/engine/definitions/file_schemas.ts";
import {
  type FrontMatterFile,
  parseFrontMatter,
} from "../../../shared/engine/skills/parse_front_matter.ts";
import type { ParseYaml } from "../../../shared/engine/skills/parse_yaml.ts";
import { nameToSlug } from "../../../shared/platform/values/name_to_slug.ts";
import { withoutEmpty } from "../../../shared/platform/values/without_empty.ts";
import { mapModel } from "./map_model.ts";
import { mapTools, toolNames } from "./map_tools.ts";

/** What the files of a project are made of. */
export interface SubagentSettings {
  /** Name of a row of `llm_providers`. */
  readonly provider: string;
  /** Own names of models and tools, by what files say. */
  readonly models: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<string, string>>;
  /** Slugs of the project's tools, and ids of its skills. */
  readonly servers: ReadonlySet<string>;
  readonly skills: ReadonlySet<string>;
}

/** An agent of this project, made from a subagent file of a coding agent. */
export interface ConvertedAgent {
  readonly slug: string;
  /** Whether the file has a name, as subagents and few other files do. */
  readonly isNamed: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  /** Tools and keys that have no meaning here, or not in this project. */
  readonly leftOut: readonly string[];
  /** What was changed, or not read as it is written. */
  readonly notes: readonly string[];
}

/** Keys that this conversion reads itself. */
const READ_KEYS = ["name", "description", "display_name", "provider", "model", "tools", "skills"];
const DENIED_KEYS = ["disallowedTools", "disallowed-tools", "disallowed_tools"];
/** Keys that mean the same here and refer to nothing that the project may lack. */
const KEPT_KEYS = [
  ...["maxTurns", "temperature", "max_tokens", "max_continuations", "reasoning_effort"],
  ...["must_complete", "budget", "audience", "enabled"],
] as const;

/**
 * Converts a subagent file, part by part: what cannot be used here is left out and named.
 *
 * @param path For messages and, without a name in the file, for the slug.
 * @throws SKILL_INVALID without front matter
 */
export function convertSubagent(
  { path, text }: { readonly path: string; readonly text: string },
  settings: SubagentSettings,
  parseYaml: ParseYaml,
): ConvertedAgent {
  const { fields, body, notes: readings } = parseFrontMatter(text, path, parseYaml);
  const notes = readings.map(({ line, problem, reading }) =>
    `line ${line}: ${problem}; ${reading}`
  );
  const name = textOf(fields.name);
  const slug = nameToSlug(name) || nameToSlug(fileName(path)) || "agent";
  const { provider } = settings;
  const given = textOf(fields.provider);
  if (given !== "" && given !== provider) notes.push(`provider ${given} became ${provider}`);
  const model = mapModel(textsOf(fields.model), provider, settings.models);
  if (model.note !== null) notes.push(model.note);
  const denied = DENIED_KEYS.flatMap((key) => toolNames(fields[key]));
  const mapped = mapTools(toolNames(fields.tools), denied, {
    provider,
    servers: settings.servers,
    own: settings.tools,
  });
  const { kept, leftOut } = otherKeys(fields);
  const skills = toolNames(fields.skills);
  const known = skills.filter((skill) => settings.skills.has(skill));
  return {
    slug,
    isNamed: name !== "",
    prompt: body,
    notes,
    leftOut: [
      ...mapped.leftOut,
      ...skills.filter((skill) => !known.includes(skill)).map((skill) => `skill ${skill}`),
      ...leftOut,
    ],
    fields: withoutEmpty({
      name: slug,
      display_name: textOf(fields.display_name) || (name === slug ? "" : name),
      description: textOf(fields.description),
      provider,
      model: model.model ?? "",
      tools: mapped.tools,
      provider_tools: mapped.providerTools,
      skills: known,
      // A subagent calls others only with a tool for it.
      handoffs: mapped.mayHandOff ? "" : "none",
      ...kept,
    }),
  };
}

/** Of the other keys, those that mean the same here and have a value that is valid here. */
function otherKeys(fields: FrontMatterFile["fields"]) {
  const kept: Record<string, unknown> = {};
  const leftOut: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (READ_KEYS.includes(key) || value === null || value === undefined) continue;
    const known = KEPT_KEYS.find((one) => one === key);
    if (known !== undefined && agentFileSchema.shape[known].safeParse(value).success) {
      kept[key] = value;
    } else leftOut.push(key);
  }
  return { kept, leftOut };
}

/** The name of a file without its folder and endings such as `.agent.md`. */
function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(
    /(\.(agent|chatmode|prompt))?\.(md|markdown)$/i,
    "",
  );
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function textsOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(",") : textOf(value);
}
