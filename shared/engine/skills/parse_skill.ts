import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { decodeText } from "./decode_text.ts";
import { type FrontMatterFile, lineOfKey, parseFrontMatter } from "./parse_front_matter.ts";
import type { ParseYaml } from "./parse_yaml.ts";
import { readResources } from "./read_resources.ts";
import type { ParsedSkill, SkillFile } from "./skill.ts";
import { type FilePlace, unreadable } from "./skill_problem.ts";

const SKILL_FILE = "SKILL.md";

/** The model reads all instructions; longer ones belong in resources. */
const MAX_INSTRUCTIONS_BYTES = 200_000;
const DEFAULT_VERSION = "1.0.0";
const MAX_NAME_CHARACTERS = 64;

/** True for the file that makes its folder a skill, in any letter case. */
export function isSkillFile(path: string): boolean {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase() === SKILL_FILE.toLowerCase();
}

/** Models read it with each prompt. */
const MAX_DESCRIPTION_CHARACTERS = 4096;

/** What is known about the folder of a skill, and who gets what was not read as it is written. */
export interface SkillPlace {
  /** The path of its folder for messages, such as `skills/letters`; empty for the root. */
  readonly path: string;
  /** Called with each part that was left out, shortened or read as text. */
  readonly warn: (warning: SkillWarning) => void;
}

/** A part of a `SKILL.md` that was not read as it is written. */
export interface SkillWarning extends FilePlace {
  readonly message: string;
}

/** A text; a number or another plain value is one, too, as in `version: 2` or `name: 404`. */
const text = z.union([z.string(), z.number(), z.boolean()]).transform((value) =>
  String(value).trim()
);

/**
 * Reads a folder in the Agent Skills format: `SKILL.md` with front matter and instructions, and
 * other files as resources. Front matter that is not YAML is read field by field.
 *
 * @param files The folder's files, including `SKILL.md`.
 * @param parseYaml Injected, because only importers need a YAML parser.
 * @throws SKILL_INVALID with the path, the line and the problem.
 */
export function parseSkill(
  files: readonly SkillFile[],
  parseYaml: ParseYaml,
  { path: folder, warn }: SkillPlace = { path: "", warn: () => {} },
): ParsedSkill {
  const main = files.find(({ path }) => !path.includes("/") && isSkillFile(path));
  if (main === undefined) {
    throw new SwarmError("SKILL_INVALID", `Cannot read the skill: it has no ${SKILL_FILE}`, {
      hint: `Put a ${SKILL_FILE} into the skill's folder.`,
    });
  }
  const path = folder === "" ? main.path : `${folder}/${main.path}`;
  const source = decode(main, path);
  const { fields, body, notes } = parseFrontMatter(source, path, parseYaml);
  const at = (key: string) => ({ path, line: lineOfKey(source, key) });
  for (const { line, problem, reading } of notes) {
    warn({ path, line, message: `${problem}; ${reading}` });
  }
  const { name: _name, description: _description, version, ...extra } = fields;
  const name = nameOf(fields, folder, at, warn);
  if (name.length > MAX_NAME_CHARACTERS) {
    throw invalid(at("name"), `name: is longer than ${MAX_NAME_CHARACTERS} characters`);
  }
  const { resources, scripts, notImported } = readResources(files.filter((file) => file !== main));
  return {
    skillId: toSkillId(name, at("name")),
    name,
    description: shortened(
      requiredText(fields, "description", at),
      (message) => warn({ ...at("description"), message }),
    ),
    version: versionFrom(version, extra, (message) => warn({ ...at("version"), message })),
    instructions: body,
    resources,
    metadata: {
      ...toJson(extra),
      ...(scripts.length > 0 ? { scripts } : {}),
      ...(notImported.length > 0 ? { not_imported: notImported } : {}),
    },
  };
}

function decode({ bytes }: SkillFile, path: string): string {
  const place = { path, line: 1 };
  if (bytes.byteLength > MAX_INSTRUCTIONS_BYTES) {
    const problem = `it is larger than ${MAX_INSTRUCTIONS_BYTES} bytes`;
    throw invalid(place, problem, { hint: "Move parts into resources." });
  }
  try {
    return decodeText(bytes);
  } catch (cause) {
    throw invalid(place, "it is not UTF-8 text", { hint: "Save the file as UTF-8.", cause });
  }
}

function requiredText(
  fields: FrontMatterFile["fields"],
  key: string,
  at: (key: string) => FilePlace,
): string {
  const value = fields[key] ?? undefined;
  const parsed = text.safeParse(value);
  const problem = value === undefined
    ? "it is required but missing"
    : !parsed.success
    ? "it is not a text"
    : parsed.data === ""
    ? "is empty"
    : null;
  if (problem === null && parsed.success) return parsed.data;
  throw invalid(at(key), `its front matter is invalid: ${key}: ${problem}`);
}

/** The folder's name stands in for one that is missing: the standard wants both to be equal. */
function nameOf(
  fields: FrontMatterFile["fields"],
  folder: string,
  at: (key: string) => FilePlace,
  warn: SkillPlace["warn"],
): string {
  const own = folder.slice(folder.lastIndexOf("/") + 1);
  if (own === "" || String(fields.name ?? "").trim() !== "") {
    return requiredText(fields, "name", at);
  }
  warn({ ...at("name"), message: `name: it is missing; the folder's name ${own} is used` });
  return own;
}

function shortened(description: string, warn: (message: string) => void): string {
  if (description.length <= MAX_DESCRIPTION_CHARACTERS) return description;
  warn(`description: only its first ${MAX_DESCRIPTION_CHARACTERS} characters are kept`);
  return description.slice(0, MAX_DESCRIPTION_CHARACTERS);
}

function versionFrom(
  version: unknown,
  { metadata }: { readonly metadata?: unknown },
  warn: (message: string) => void,
): string {
  const parsed = text.safeParse(version ?? versionOf(metadata) ?? DEFAULT_VERSION);
  if (parsed.success && parsed.data !== "") return parsed.data;
  warn(`version: it is not a text; ${DEFAULT_VERSION} is used`);
  return DEFAULT_VERSION;
}

/** The registry's key: the name, which the standard already requires in lower case with hyphens. */
function toSkillId(name: string, place: FilePlace): string {
  const id = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "").slice(0, 64);
  if (id !== "") return id;
  const hint = "Use letters a to z and hyphens.";
  throw invalid(place, `its name "${name}" has no letter or digit`, { hint });
}

/** Some authors put the version into the standard's free-form `metadata`. */
function versionOf(metadata: unknown): string | number | undefined {
  if (typeof metadata !== "object" || metadata === null || !("version" in metadata)) return;
  const { version } = metadata;
  return typeof version === "string" || typeof version === "number" ? version : undefined;
}

/** YAML has dates and more; the registry stores JSON. */
function toJson(value: object): JsonObject {
  const json: JsonValue = JSON.parse(JSON.stringify(value));
  return typeof json === "object" && json !== null && !Array.isArray(json)
    ? json as JsonObject
    : {};
}

function invalid(
  place: FilePlace,
  problem: string,
  { hint = "Give it a name and a description.", cause }: {
    readonly hint?: string;
    readonly cause?: unknown;
  } = {},
): SwarmError {
  return unreadable(place, problem, { hint, cause });
}
