import { FENCE_RULE, fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { defineTool, type ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { describeRuleset } from "./describe_ruleset.ts";
import { MAX_PROMPT_CHARACTERS, promptModelChoice, usageOf, usageSchema } from "./prompt_models.ts";
import { readRuleset } from "./read_ruleset.ts";

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
