import { definedOnly } from "../../../platform/values/defined_only.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../platform/values/json.ts";
import { toStorableJson } from "../../../platform/values/storable_json.ts";

/** The front matter of a document. */
export interface PageFrontMatter {
  readonly data: JsonObject;
  /** Where the body starts, in characters of the normalized source. */
  readonly bodyStart: number;
}

/** Longer front matter is treated as text that starts with a horizontal rule. */
const MAX_FRONT_MATTER_CHARS = 16_384;

const NO_FRONT_MATTER: PageFrontMatter = { data: {}, bodyStart: 0 };

/**
 * Reads YAML front matter at the start of the file. A block without a mapping is text between two
 * rules and belongs to the body; a block with invalid YAML is still front matter, of which only a
 * plain `title:` is read.
 *
 * @param source Normalized source.
 */
export async function readFrontMatter(source: string): Promise<PageFrontMatter> {
  const block = /^---[ \t]*\n([^]*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/
    .exec(source.slice(0, MAX_FRONT_MATTER_CHARS));
  if (block === null) return NO_FRONT_MATTER;
  const yaml = block[1] ?? "";
  const data = await parseMapping(yaml);
  return data === null ? NO_FRONT_MATTER : { data, bodyStart: block[0].length };
}

/** The mapping as JSON, or null if the YAML is not a mapping. */
async function parseMapping(yaml: string): Promise<JsonObject | null> {
  const { parse } = await import("../../../vendor/yaml.js");
  try {
    const json = toJson(parse(yaml, { logLevel: "error" }));
    if (json === null && yaml.trim() === "") return {};
    return isJsonObject(json) ? json : null;
  } catch {
    return looksLikeMapping(yaml) ? plainTitle(yaml) : null;
  }
}

/** YAML has infinities, cycles and more; the database stores JSON. */
function toJson(value: unknown): JsonValue {
  const json: JsonValue = JSON.parse(JSON.stringify(value ?? null));
  return toStorableJson(json);
}

function looksLikeMapping(yaml: string): boolean {
  return /^[\w"'-][^\n:]*:(?:\s|$)/m.test(yaml);
}

/** Titles with an unquoted colon are the most common mistake, and their meaning is clear. */
function plainTitle(yaml: string): JsonObject {
  const title = /^title:[ \t]+(\S.*)$/m.exec(yaml)?.[1]?.trim();
  return definedOnly({ title });
}
