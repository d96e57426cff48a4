/** What is wrong with a prompt, and where. */
export interface PromptIssue {
  readonly code: PromptIssueCode;
  readonly message: string;
  /** Index of the first UTF-16 code unit; absent where something is missing from the whole text. */
  readonly start?: number;
  /** Index after the last one. */
  readonly end?: number;
}

/** The rules by which prompts are checked; docs/reference/catalog.md lists them. */
export const PROMPT_ISSUES = {
  VAGUE_WORD: "Replace vague words by what you mean: names, numbers, criteria.",
  CONTRADICTION: "Decide between instructions that exclude each other.",
  MISSING_OUTPUT_FORMAT: "Say in which form the answer should come: a list, a table, JSON, a text.",
  UNBOUNDED_LENGTH: "Set a length: words, sentences, items.",
  BIASED_TERM: "Use neutral terms.",
  INJECTION_PRONE_PLACEHOLDER:
    "Put delimiters around each placeholder, and say that what stands between them is data.",
  VERBOSE_PHRASE: "Shorten phrases that say nothing.",
  REPEATED_SENTENCE: "Say each thing once.",
  LONG_SENTENCE: "Split long sentences into one instruction each.",
} as const;

/** See {@linkcode PROMPT_ISSUES}. */
export type PromptIssueCode = keyof typeof PROMPT_ISSUES;

/** A prompt as the rules read it. */
export interface PromptText {
  readonly text: string;
  /** The text with spaces in place of code, which has words of its own; of the same length. */
  readonly prose: string;
}

const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** Prepares a prompt for the rules. */
export function toPromptText(text: string): PromptText {
  return { text, prose: text.replace(CODE, (code) => code.replace(/[^\n]/g, " ")) };
}

/** A pattern of whole words or phrases, whose words any white space may separate. */
export function wordsPattern(phrases: readonly string[]): RegExp {
  const longestFirst = [...phrases].sort((one, other) => other.length - one.length);
  const alternatives = longestFirst.map((phrase) =>
    phrase.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replaceAll(" ", "\\s{1,4}")
  );
  return new RegExp(
    `(?<![\\p{L}\\p{N}_-])(?:${alternatives.join("|")})(?![\\p{L}\\p{N}_-])`,
    "giu",
  );
}

/** A found phrase in the form in which the lists have it. */
export function plainPhrase(found: string): string {
  return found.toLowerCase().replace(/\s+/g, " ");
}
