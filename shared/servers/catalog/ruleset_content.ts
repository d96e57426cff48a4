import { jsonValue } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";

const MAX_RULES = 100;
const MAX_RULE_CHARACTERS = 2_000;
const MAX_EXAMPLES = 20;
const MAX_EXAMPLE_CHARACTERS = 4_000;
const MAX_OTHER_SETTINGS = 50;
/** Maximum length of the content as JSON: it is sent with every prompt. */
const MAX_CONTENT_CHARACTERS = 64_000;

const ruleText = z.string().min(1).max(MAX_RULE_CHARACTERS);

/**
 * The content of a ruleset: the schema of `save_ruleset`, which validates every version before it
 * is stored. Additional settings are kept and passed to the model unchanged.
 */
export const rulesetContent = z.object({
  rules: z.array(z.union([
    ruleText,
    z.looseObject({
      text: ruleText,
      kind: z.enum(["must", "must_not", "prefer"]).optional(),
      id: z.string().min(1).max(100).optional(),
    }),
  ])).max(MAX_RULES).optional().describe("Rules for the rewritten text, in order"),
  tone: z.string().min(1).max(200).optional(),
  audience: z.string().min(1).max(500).optional(),
  language: z.string().min(2).max(100).optional().describe("Language of the rewritten text"),
  max_words: z.int().min(1).max(10_000).optional().describe("Maximum length of the rewritten text"),
  examples: z.array(z.strictObject({
    before: z.string().min(1).max(MAX_EXAMPLE_CHARACTERS),
    after: z.string().min(1).max(MAX_EXAMPLE_CHARACTERS),
  })).max(MAX_EXAMPLES).optional(),
}).catchall(jsonValue)
  .refine((content) => Object.keys(content).length <= MAX_OTHER_SETTINGS, "has too many settings")
  .refine(
    (content) => JSON.stringify(content).length <= MAX_CONTENT_CHARACTERS,
    `is longer than ${MAX_CONTENT_CHARACTERS} characters`,
  );
