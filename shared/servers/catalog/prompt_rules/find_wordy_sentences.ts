import { plainPhrase, type PromptIssue, type PromptText } from "./prompt_text.ts";

const MAX_WORDS = 40;
/** Shorter sentences may repeat intentionally: "Yes.", "Be brief." */
const MIN_REPEATED_CHARACTERS = 20;
const SENTENCE = /[^\s.!?\n][^.!?\n]*/g;

/** Finds sentences that are too long or repeated. */
export function findWordySentences({ prose }: PromptText): PromptIssue[] {
  const seen = new Set<string>();
  return [...prose.matchAll(SENTENCE)].flatMap(({ 0: raw, index }): PromptIssue[] => {
    const sentence = raw.trimEnd();
    const place = { start: index, end: index + sentence.length };
    const issues: PromptIssue[] = [];
    const words = sentence.split(/\s+/).length;
    if (words > MAX_WORDS) {
      issues.push({ code: "LONG_SENTENCE", message: `The sentence has ${words} words`, ...place });
    }
    const key = plainPhrase(sentence);
    if (seen.has(key) && sentence.length >= MIN_REPEATED_CHARACTERS) {
      issues.push({
        code: "REPEATED_SENTENCE",
        message: "The sentence repeats an earlier one",
        ...place,
      });
    }
    seen.add(key);
    return issues;
  });
}
