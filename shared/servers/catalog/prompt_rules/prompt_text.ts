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

/** Maximum number of issues in a report; each rule stops there. */
export const MAX_ISSUES = 200;

/** A prompt prepared for the rules. */
export interface PromptText {
  readonly text: string;
  /** The prompt with code, quotes and blocks of data masked; its length is unchanged. */
  readonly prose: string;
  /** The prose with the letters A to Z in lower case, as the patterns of the rules expect. */
  readonly lowerProse: string;
  /** The sentences of the lower-case prose. */
  readonly sentences: readonly Sentence[];
  /** The parts that were replaced, in order. */
  readonly enclosed: readonly TextSpan[];
}

/** A part of a text, in UTF-16 code units. */
export interface TextSpan {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** Code, three quotation marks, and quotes on one line: words that are mentioned, not used. */
const QUOTED =
  /```[\s\S]*?(?:```|$)|`[^`\n]*`|"""[\s\S]*?"""|"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|(?<![\p{L}\p{N}])'[^'\n]{1,80}'(?![\p{L}\p{N}])/gu;
/** Tags whose names indicate data; `<instructions>` is not one. */
const DATA_TAG =
  /<(\/?)((?:user_?)?(?:input|text|content|data|documents?|article|email|message|review|source|context|transcript|conversation|logs?|code|diff|examples?|query|question|quote|passage|file|json|html|xml|csv))(?:\s[^<>\n]{0,200})?>/gi;

/** Replaces each code unit. It is neither a letter nor a space, which would end a clause. */
const OBJECT = "\uFFFC";

/** Prepares a prompt for the rules. */
export function toPromptText(text: string): PromptText {
  const quotes = [...text.matchAll(QUOTED)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
  }));
  const enclosed = merge([...quotes, ...findDataBlocks(text)]);
  let prose = "";
  let from = 0;
  for (const { start, end } of enclosed) {
    prose += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, OBJECT);
    from = end;
  }
  prose += text.slice(from);
  // toLowerCase() of the whole text could change its length.
  const lowerProse = prose.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return { text, prose, lowerProse, sentences: sentencesOf(lowerProse), enclosed };
}

/** The contents of data tags, each up to the next closing tag of the same name. */
function findDataBlocks(text: string): TextSpan[] {
  const blocks: TextSpan[] = [];
  let open: { readonly name: string; readonly end: number } | null = null;
  for (const { 0: tag, 1: slash, 2: name = "", index } of text.matchAll(DATA_TAG)) {
    if (slash === "") {
      open = { name: name.toLowerCase(), end: index + tag.length };
    } else if (open?.name === name.toLowerCase()) {
      blocks.push({ start: open.end, end: index });
      open = null;
    }
  }
  return blocks;
}

function merge(spans: readonly TextSpan[]): TextSpan[] {
  const merged: TextSpan[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last === undefined || span.start > last.end) merged.push(span);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return merged;
}

/** A sentence and the index where it starts. */
export interface Sentence {
  readonly sentence: string;
  readonly start: number;
}

/** A line break ends a sentence, too. */
function sentencesOf(prose: string): Sentence[] {
  return [...prose.matchAll(/[^\s.!?。！？][^.!?\n。！？]*/g)].map(({ 0: found, index }) => ({
    sentence: found.trimEnd(),
    start: index,
  }));
}

/** A pattern for whole words or phrases, with any white space between words. */
export function wordsPattern(phrases: readonly string[]): RegExp {
  const longestFirst = [...phrases].sort((one, other) => other.length - one.length);
  const alternatives = longestFirst.map((phrase) =>
    phrase.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replaceAll(" ", "\\s{1,4}")
  );
  return expressionPattern(alternatives.join("|"));
}

/**
 * A pattern for whole lower-case words. It does not ignore case, because compiling a long pattern
 * that does takes a new isolate longer than checking the prompt.
 */
export function expressionPattern(expression: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${expression})(?![\\p{L}\\p{N}_-])`, "gu");
}

/** A found phrase in the form of the lists. */
export function plainPhrase(found: string): string {
  return found.toLowerCase().replace(/\s+/g, " ");
}
