import { jsonValue } from "../../json_schema.ts";
import { z } from "../../vendor/zod.js";

const MAX_RULES = 100;
const MAX_RULE_CHARACTERS = 2_000;
const MAX_EXAMPLES = 20;
const MAX_EXAMPLE_CHARACTERS = 4_000;
const MAX_OTHER_SETTINGS = 50;
/** Of the whole content as JSON: it is sent with every prompt. */
const MAX_CONTENT_CHARACTERS = 64_000;

const ruleText = z.string().min(1).max(MAX_RULE_CHARACTERS);

/**
 * What a ruleset says: the JSON schema of `save_ruleset`, by which every version is checked before it
 * is stored. Settings beside the named ones are kept, and are given to the model as they are.
 */
export const rulesetContent = z.object({
  rules: z.array(z.union([
    ruleText,
    z.looseObject({
      text: ruleText,
      kind: z.enum(["must", "must_not", "prefer"]).optional(),
      id: z.string().min(1).max(100).optional(),
    }),
  ])).max(MAX_RULES).optional().describe("What the rewritten text has to keep to, in order"),
  tone: z.string().min(1).max(200).optional(),
  audience: z.string().min(1).max(500).optional(),
  language: z.string().min(2).max(100).optional().describe("Of the rewritten text"),
  max_words: z.int().min(1).max(10_000).optional().describe("Of the rewritten text"),
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

/** See {@linkcode rulesetContent}. */
export type RulesetContent = z.infer<typeof rulesetContent>;
