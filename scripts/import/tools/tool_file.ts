import type { WriteYaml } from "../../../shared/engine/definitions/definition.ts";
import type { ParseYaml } from "../../../shared/engine/skills/parse_yaml.ts";
import { findSchemaProblems } from "../../../shared/models/tool_schemas/schema_problems.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { pushProblem } from "../push_problem.ts";

/** The content of `agents/tools/<slug>.yaml` for an HTTP API. */
export interface HttpToolFile {
  readonly type: "http_api";
  readonly description: string;
  readonly config: JsonObject & { readonly parameters: JsonObject };
  readonly credential?: { readonly secret: string; readonly type: string };
}

const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_REPAIRS = 200;

/** A description in one piece that models accept; long ones end at a word. */
export function toolDescription(...texts: readonly string[]): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== "");
  const text = parts.map((part) => /[.!?]$/.test(part) ? part : `${part}.`).join("\n");
  if (text.length <= MAX_DESCRIPTION_CHARACTERS) return text;
  return `${text.slice(0, MAX_DESCRIPTION_CHARACTERS).replace(/\s+\S*$/, "")} …`;
}

/**
 * A schema without what values cannot be checked by, such as a regular expression that takes
 * exponential time, and the paths of what was left out.
 */
export function checkableSchema(schema: JsonObject): {
  readonly schema: JsonObject;
  readonly leftOut: readonly string[];
} {
  const copy: JsonObject = JSON.parse(JSON.stringify(schema));
  const leftOut: string[] = [];
  for (let count = 0; count < MAX_REPAIRS; count++) {
    const [problem] = findSchemaProblems(copy);
    if (problem === undefined || problem.at.length === 0) break;
    remove(copy, problem.at);
    leftOut.push(problem.at.join("."));
  }
  return { schema: copy, leftOut };
}

function remove(value: JsonValue, at: readonly (string | number)[]): void {
  const key = at[at.length - 1];
  const parent = at.slice(0, -1).reduce<unknown>(
    (part, step) => typeof part === "object" && part !== null ? Reflect.get(part, step) : undefined,
    value,
  );
  if (typeof parent !== "object" || parent === null || key === undefined) return;
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else Reflect.deleteProperty(parent, key);
}

/** The text of a tool's file, and why a push would refuse it; null if it would not. */
export function toolText(
  slug: string,
  file: HttpToolFile,
  { parseYaml, writeYaml }: { readonly parseYaml: ParseYaml; readonly writeYaml: WriteYaml },
): { readonly text: string; readonly problem: string | null } {
  const text = writeYaml(file);
  return { text, problem: pushProblem(`tools/${slug}.yaml`, text, parseYaml) };
}
