import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { checkPrompt } from "./prompt_rules/check_prompt.ts";
import { PROMPT_ISSUES, type PromptIssueCode } from "./prompt_rules/prompt_text.ts";

const MAX_TEXT_CHARACTERS = 100_000;
const codes = Object.keys(PROMPT_ISSUES) as PromptIssueCode[];

/** Checks a prompt by rules, without a model. */
export const validatePromptTool = defineTool({
  name: "validate_prompt",
  title: "Validate a prompt",
  description:
    "Checks an English prompt by rules, without a model: vague words, contradictions, a " +
    "missing output format or length, biased terms, placeholders open to injection, wordiness. " +
    "Each issue has a code and, if it concerns a part of the text, its position.",
  version: "1",
  scopes: [],
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ text: z.string().min(1).max(MAX_TEXT_CHARACTERS) }),
  output: z.object({
    issues: z.array(z.object({
      code: z.enum(codes),
      message: z.string(),
      start: z.int().optional().describe("Index of the first UTF-16 code unit"),
      end: z.int().optional().describe("Index after the last one"),
    })),
    suggestions: z.array(z.string()),
  }),
  run: ({ text }) => {
    const { issues, suggestions } = checkPrompt(text);
    return Promise.resolve({ issues: [...issues], suggestions: [...suggestions] });
  },
});
