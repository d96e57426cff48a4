import { findContradictions } from "./find_contradictions.ts";
import { findMissing } from "./find_missing.ts";
import { findPhrases } from "./find_phrases.ts";
import { findPlaceholders } from "./find_placeholders.ts";
import { findWordySentences } from "./find_wordy_sentences.ts";
import { MAX_ISSUES, PROMPT_ISSUES, type PromptIssue, toPromptText } from "./prompt_text.ts";

/** The issues found in a prompt. */
export interface PromptReport {
  /** In text order; issues about the whole text come last. */
  readonly issues: readonly PromptIssue[];
  /** One suggestion for each kind of issue. */
  readonly suggestions: readonly string[];
}

/** Checks a prompt by rules, without a model, in linear time. */
export function checkPrompt(text: string): PromptReport {
  const prompt = toPromptText(text);
  const found = [
    ...findPhrases(prompt),
    ...findContradictions(prompt),
    ...findPlaceholders(prompt),
    ...findWordySentences(prompt),
    ...findMissing(prompt),
  ];
  const issues = found
    .sort((one, other) => (one.start ?? Infinity) - (other.start ?? Infinity) || 0)
    .slice(0, MAX_ISSUES);
  const codes = [...new Set(issues.map(({ code }) => code))];
  return { issues, suggestions: codes.map((code) => PROMPT_ISSUES[code]) };
}
