import { z } from "../../vendor/zod.js";
import { describeIssues } from "../../platform/values/describe_issues.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { readResources } from "./read_resources.ts";
import type { ParsedSkill, SkillFile } from "./skill.ts";
import { splitFrontMatter } from "./split_front_matter.ts";

const SKILL_FILE = "SKILL.md";

/** The model reads all instructions; longer ones belong in resources. */
const MAX_INSTRUCTIONS_BYTES = 200_000;
const DEFAULT_VERSION = "1.0.0";

/** True for the file that makes its folder a skill, in any letter case. */
export function isSkillFile(path: string): boolean {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase() === SKILL_FILE.toLowerCase();
}

/** Parses YAML of the core schema: plain data, no custom tags. Throws if it is malformed. */
export type ParseYaml = (text: string) => unknown;

const frontMatter = z.looseObject({
  name: z.string().trim().min(1, "is empty").max(64, "is longer than 64 characters"),
  description: z.string().trim().min(1, "is empty").max(4096, "is longer than 4096 characters"),
  version: z.union([z.string(), z.number()]).optional(),
});

/**
 * Reads a folder in the Agent Skills format: `SKILL.md` with front matter and instructions, and
 * other files as resources.
 *
 * @param files The folder's files, including `SKILL.md`.
 * @param parseYaml Injected, because only importers need a YAML parser.
 * @throws SKILL_INVALID with the file and the problem.
 */
export function parseSkill(files: readonly SkillFile[], parseYaml: ParseYaml): ParsedSkill {
  const main = files.find(({ path }) => !path.includes("/") && isSkillFile(path));
  if (main === undefined) {
    throw new SwarmError("SKILL_INVALID", `Cannot read the skill: it has no ${SKILL_FILE}`, {
      hint: `Put a ${SKILL_FILE} into the skill's folder.`,
    });
  }
  const { yaml, body } = splitFrontMatter(decode(main), SKILL_FILE);
  const { name, description, version, ...extra } = parseFrontMatter(yaml, parseYaml);
  const { resources, scripts, notImported } = readResources(files.filter((file) => file !== main));
  return {
    skillId: toSkillId(name),
    name,
    description,
    version: String(version ?? versionOf(extra.metadata) ?? DEFAULT_VERSION),
    instructions: body,
    resources,
    metadata: {
      ...toJson(extra),
      ...(scripts.length > 0 ? { scripts } : {}),
      ...(notImported.length > 0 ? { not_imported: notImported } : {}),
    },
  };
}

function decode({ bytes }: SkillFile): string {
  if (bytes.byteLength > MAX_INSTRUCTIONS_BYTES) {
    throw invalid(
      `it is larger than ${MAX_INSTRUCTIONS_BYTES} bytes`,
      "Move parts into resources.",
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid("it is not UTF-8 text", "Save the file as UTF-8.", cause);
  }
}

function parseFrontMatter(yaml: string, parseYaml: ParseYaml): z.infer<typeof frontMatter> {
  let data: unknown;
  try {
    data = parseYaml(yaml);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message.split("\n")[0] : "unknown";
    throw invalid(`its front matter is not YAML: ${problem}`, "Quote texts with colons.", cause);
  }
  const parsed = frontMatter.safeParse(data);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error).join("; ");
  throw invalid(`its front matter is invalid: ${issues}`, "Give it a name and a description.");
}

/** The registry's key: the name, which the standard already requires in lower case with hyphens. */
function toSkillId(name: string): string {
  const id = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "").slice(0, 64);
  if (id !== "") return id;
  throw invalid(`its name "${name}" has no letter or digit`, "Use letters a to z and hyphens.");
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

function invalid(problem: string, hint: string, cause?: unknown): SwarmError {
  return new SwarmError("SKILL_INVALID", `Cannot read ${SKILL_FILE}: ${problem}`, { hint, cause });
}
