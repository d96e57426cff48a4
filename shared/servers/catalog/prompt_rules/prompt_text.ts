/** An issue of a prompt and its position. */
export interface PromptIssue {
  readonly code: PromptIssueCode;
  readonly message: string;
  /** Index of the first UTF-16 code unit; absent for an issue about the whole text. */
  readonly start?: number;
  /** Index after the last one. */
  readonly end?: number;
}

/** The rules for prompts; docs/reference/catalog.md lists them. */
export const PROMPT_ISSUES = {
  VAGUE_WORD: "Replace vague words with names, numbers or criteria.",
  CONTRADICTION: "Choose one of the contradictory instructions.",
  MISSING_OUTPUT_FORMAT: "Specify the format of the answer: a list, a table, JSON, or text.",
  UNBOUNDED_LENGTH: "Set a length in words, sentences or items.",
  BIASED_TERM: "Use neutral terms.",
  INJECTION_PRONE_PLACEHOLDER:
    "Put delimiters around each placeholder, and say that the text between them is data.",
  VERBOSE_PHRASE: "Shorten or remove empty phrases.",
  REPEATED_SENTENCE: "Say each thing once.",
  LONG_SENTENCE: "Split long sentences into one instruction each.",
} as const;

/** See {@linkcode PROMPT_ISSUES}. */
export type PromptIssueCode = keyof typeof PROMPT_ISSUES;

/** A prompt prepared for the rules. */
export interface PromptText {
  readonly text: string;
  /** The text with code replaced by spaces, because words in code do not count; same length. */
  readonly prose: string;
}

const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/** Prepares a prompt for the rules. */
export function toPromptText(text: string): PromptText {
  return { text, prose: text.replace(CODE, (code) => code.replace(/[^\n]/g, " ")) };
}

/** A pattern for whole words or phrases, with any white space between words. */
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

/** A found phrase in the form that the lists use. */
export function plainPhrase(found: string): string {
  return found.toLowerCase().replace(/\s+/g, " ");
}
