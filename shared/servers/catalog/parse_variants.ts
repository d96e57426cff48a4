import { asJsonObject, type JsonValue } from "../../platform/values/json.ts";
import { parseJson } from "../../platform/json/parse_json.ts";

const LIMITS = { bytes: 2_000_000, depth: 20, members: 10_000, items: 10_000 };
const NUMBERED = /^\s{0,8}(?:\d{1,2}[.)]|[-*•])\s+/;

/**
 * The variants in a model's answer: from the requested JSON, with or without a code fence,
 * otherwise from a numbered or bulleted list.
 */
export function parseVariants(answer: string): string[] {
  const json = answer.trim().replace(/^```(?:json)?\s*\n/i, "");
  const parsed = parseJson(json.endsWith("```") ? json.slice(0, -"```".length) : json, LIMITS);
  if (parsed.kind === "json") return textsOf(parsed.value);
  const lines = answer.split("\n").filter((line) => NUMBERED.test(line));
  return lines.map((line) => line.replace(NUMBERED, "").trim()).filter((line) => line !== "");
}

/** The first texts that differ in more than case, spaces and punctuation. */
export function addDistinct(
  known: readonly string[],
  added: readonly string[],
  limit: number,
): string[] {
  const byKey = new Map<string, string>();
  for (const text of [...known, ...added]) {
    const key = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
    if (!byKey.has(key) && text.trim() !== "") byKey.set(key, text.trim());
  }
  return [...byKey.values()].slice(0, limit);
}

function textsOf(value: JsonValue): string[] {
  const list = Array.isArray(value) ? value : asJsonObject(value).variants;
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
