import { FENCE_RULE, fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { defineTool, type ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { MAX_PROMPT_CHARACTERS, promptModelChoice, usageOf, usageSchema } from "./prompt_models.ts";
import { readRuleset, type StoredRuleset } from "./read_ruleset.ts";
import { rulesetContent } from "./ruleset_content.ts";

const TASK =
  "You improve prompts for language models. Rewrite the prompt that the user sends, so " +
  "that it is clear, specific and complete: state the goal, the context, the constraints and the " +
  "form of the answer. Keep its language, its intent and its placeholders, and add no facts. " +
  "Answer with the rewritten prompt alone.";

/** Rewrites a prompt with a model, and streams it. */
export const enhancePromptTool = defineTool({
  name: "enhance_prompt",
  title: "Enhance a prompt",
  description:
    "Rewrites a prompt so that it is clear, specific and complete, following the rules of a " +
    "ruleset if you name one. The text streams to callers that support it.",
  version: "1",
  scopes: CATALOG_SCOPES.generate,
  annotations: { readOnlyHint: true, openWorldHint: true },
  input: z.strictObject({
    text: z.string().min(1).max(MAX_PROMPT_CHARACTERS),
    rulesetId: z.guid().optional().describe("An id from list_rulesets"),
    ...promptModelChoice,
  }),
  output: z.object({ text: z.string(), usage: usageSchema }),
  async run({ text, rulesetId, model, llm_provider: provider }, context) {
    const rules = rulesetId === undefined ? "" : await rulesOf(rulesetId, context);
    const { callModel, streamText } = context;
    let isRestart = false;
    const answer = await callModel({
      ...definedOnly({ model, provider }),
      system: [TASK, FENCE_RULE, rules].filter((part) => part !== "").join("\n\n"),
      messages: [{ role: "user", text: fenceData(text, "prompt") }],
      ...(streamText === null ? {} : {
        onDelta: (piece: string) => {
          streamText({ text: piece, isRestart });
          isRestart = false;
        },
        onFallback: () => {
          isRestart = true;
        },
      }),
    });
    if (answer.text.trim() === "") throw emptyAnswer(answer.model);
    return { text: answer.text, usage: usageOf([answer]) };
  },
});

/** Applying a ruleset does not require the scope for reading rulesets. */
async function rulesOf(id: string, { sql, caller }: ToolContext): Promise<string> {
  try {
    return describeRuleset(await readRuleset(sql, id, caller.userId));
  } catch (error) {
    throw toSwarmError(error, "read the ruleset");
  }
}

function emptyAnswer(model: string): SwarmError {
  return new SwarmError(
    "MODEL_OUTPUT_INVALID",
    `Cannot enhance the prompt: the model ${model} returned an empty answer`,
    {
      hint: "Try again, or name another model.",
    },
  );
}

const KINDS = { must: "Must", must_not: "Must not", prefer: "Prefer" } as const;

/** A ruleset as instructions for a model; unknown settings are passed on unchanged. */
export function describeRuleset({ name, content }: StoredRuleset): string {
  const { rules = [], tone, audience, language, max_words, examples = [], ...others } =
    rulesetContent.parse(content);
  const lines = [
    ...rules.map((rule) =>
      typeof rule === "string"
        ? rule
        : rule.kind === undefined
        ? rule.text
        : `${KINDS[rule.kind]}: ${rule.text}`
    ),
    ...named("Tone", tone),
    ...named("Audience", audience),
    ...named("Language", language),
    ...(max_words === undefined ? [] : [`At most ${max_words} words`]),
  ];
  const settings = Object.keys(others).length === 0
    ? []
    : [`Further settings of the ruleset:\n${fenceData(JSON.stringify(others), "ruleset")}`];
  const shown = examples.map(({ before, after }) =>
    fenceData(`Before: ${before}\nAfter: ${after}`, "example")
  );
  const numbered = lines.map((line, at) => `${at + 1}. ${line}`).join("\n");
  return [
    `The rewritten prompt must follow the ruleset "${name}".`,
    numbered,
    ...settings,
    ...shown,
  ].filter((part) => part !== "").join("\n\n");
}

function named(label: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${label}: ${value}`];
}
