import { FENCE_RULE, fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import type { ToolModelAnswer } from "../../gateway/tool_contracts/tool_model.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { MAX_PROMPT_CHARACTERS, promptModelChoice, usageOf, usageSchema } from "./prompt_models.ts";
import { toInputSchema } from "../../platform/values/json_schema.ts";
import { asJsonObject, type JsonValue } from "../../platform/values/json.ts";
import { parseJson } from "../../platform/json/parse_json.ts";

const MAX_VARIANTS = 5;
const DEFAULT_VARIANTS = 3;
/** Each attempt requests only the missing variants. */
const MAX_ATTEMPTS = 3;

const STYLES = {
  concise: "Write concisely: as few words as say the same.",
  casual: "Write casually, as to a friend.",
  formal: "Write formally, as to an authority.",
} as const;

const form = z.strictObject({ variants: z.array(z.string()) });

/** Rewrites a text in several ways. */
export const draftVariationsTool = defineTool({
  name: "draft_variations",
  title: "Draft variations",
  description: "Rewrites a text in several different ways, for ideas; optionally " +
    "in one style.",
  version: "1",
  scopes: CATALOG_SCOPES.generate,
  annotations: { readOnlyHint: true, openWorldHint: true },
  input: z.strictObject({
    text: z.string().min(1).max(MAX_PROMPT_CHARACTERS),
    n: z.int().min(1).max(MAX_VARIANTS).default(DEFAULT_VARIANTS),
    style: z.enum(["concise", "casual", "formal"]).optional(),
    ...promptModelChoice,
  }),
  output: z.object({ ...form.shape, usage: usageSchema }),
  async run({ text, n, style, model, llm_provider: provider }, { callModel, progress }) {
    let variants: readonly string[] = [];
    const answers: ToolModelAnswer[] = [];
    while (variants.length < n && answers.length < MAX_ATTEMPTS) {
      const answer = await callModel({
        ...definedOnly({ model, provider }),
        system: instructions(n - variants.length, style),
        messages: [{ role: "user", text: request(text, variants) }],
        output: { schema: toInputSchema(form), isBesideTools: false },
      });
      answers.push(answer);
      variants = addDistinct(variants, parseVariants(answer.text), n);
      progress(answers.length, MAX_ATTEMPTS);
    }
    if (variants.length < n) throw tooFew(variants.length, n);
    return { variants: [...variants], usage: usageOf(answers) };
  },
});

function instructions(count: number, style: keyof typeof STYLES | undefined): string {
  return [
    `Rewrite the text that the user sends in ${count} different ways. Keep its meaning and its ` +
    "language, and add no facts. Each variant must differ clearly from the others.",
    ...(style === undefined ? [] : [STYLES[style]]),
    'Answer with JSON alone: {"variants": ["…"]}.',
    FENCE_RULE,
  ].join("\n\n");
}

function request(text: string, known: readonly string[]): string {
  if (known.length === 0) return fenceData(text, "text");
  const others = fenceData(JSON.stringify(known), "variants");
  return `${fenceData(text, "text")}\n\nDo not repeat these variants:\n${others}`;
}

function tooFew(found: number, wanted: number): SwarmError {
  return new SwarmError(
    "MODEL_OUTPUT_INVALID",
    `Cannot draft ${wanted} variants: the model gave only ${found} in ${MAX_ATTEMPTS} answers`,
    { hint: "Ask for fewer, send a longer text, or name another model." },
  );
}

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
