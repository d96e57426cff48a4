import { plainPhrase, type PromptIssue, type PromptText } from "./prompt_text.ts";

const MAX_WORDS = 40;
/** Shorter sentences may repeat intentionally: "Yes.", "Be brief." */
const MIN_REPEATED_CHARACTERS = 20;
/** Rows of tables and lines of data are not sentences. */
const IS_DATA = /^[|{[]/;

/** Finds sentences that are too long or repeated. */
export function findWordySentences({ text, sentences }: PromptText): PromptIssue[] {
  const seen = new Set<string>();
  return sentences.flatMap(({ sentence, start }): PromptIssue[] => {
    if (IS_DATA.test(sentence)) return [];
    const place = { start, end: start + sentence.length };
    const issues: PromptIssue[] = [];
    const words = sentence.split(/\s+/).length;
    if (words > MAX_WORDS) {
      issues.push({ code: "LONG_SENTENCE", message: `The sentence has ${words} words`, ...place });
    }
    const key = plainPhrase(text.slice(start, place.end));
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
