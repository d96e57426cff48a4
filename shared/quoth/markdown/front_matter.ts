import { definedOnly } from "../../defined_only.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json.ts";
import { toStorableJson } from "../../storable_json.ts";

/** What stands before the text of a document. */
export interface FrontMatter {
  readonly data: JsonObject;
  /** Where the body begins, in characters of the normalised source. */
  readonly bodyStart: number;
}

/** Front matter beyond this is taken for text that happens to begin with a rule. */
const MAX_FRONT_MATTER_CHARS = 16_384;

const NO_FRONT_MATTER: FrontMatter = { data: {}, bodyStart: 0 };

/**
 * Reads YAML front matter that begins with the file's first character. A block that holds no
 * mapping is text between two rules and belongs to the body; one that YAML refuses is still front
 * matter, of which only a plain `title:` is read.
 *
 * @param source Normalised source.
 */
export async function readFrontMatter(source: string): Promise<FrontMatter> {
  const block = /^---[ \t]*\n([^]*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/
    .exec(source.slice(0, MAX_FRONT_MATTER_CHARS));
  if (block === null) return NO_FRONT_MATTER;
  const yaml = block[1] ?? "";
  const data = await parseMapping(yaml);
  return data === null ? NO_FRONT_MATTER : { data, bodyStart: block[0].length };
}

/** The mapping as JSON, or null when the text is YAML of another kind. */
async function parseMapping(yaml: string): Promise<JsonObject | null> {
  const { parse } = await import("../../vendor/yaml.js");
  try {
    const json = toJson(parse(yaml, { logLevel: "error" }));
    if (json === null && yaml.trim() === "") return {};
    return isJsonObject(json) ? json : null;
  } catch {
    return looksLikeMapping(yaml) ? plainTitle(yaml) : null;
  }
}

/** YAML knows infinities, cycles and more; the database keeps JSON. */
function toJson(value: unknown): JsonValue {
  const json: JsonValue = JSON.parse(JSON.stringify(value ?? null));
  return toStorableJson(json);
}

function looksLikeMapping(yaml: string): boolean {
  return /^[\w"'-][^\n:]*:(?:\s|$)/m.test(yaml);
}

/** Titles with an unquoted colon are the most common mistake, and their meaning is plain. */
function plainTitle(yaml: string): JsonObject {
  const title = /^title:[ \t]+(\S.*)$/m.exec(yaml)?.[1]?.trim();
  return definedOnly({ title });
}
