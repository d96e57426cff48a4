import { findContradictions } from "./find_contradictions.ts";
import { findPhrases } from "./find_phrases.ts";
import { findPlaceholders } from "./find_placeholders.ts";
import {
  MAX_ISSUES,
  plainPhrase,
  PROMPT_ISSUES,
  type PromptIssue,
  type PromptText,
  toPromptText,
  wordsPattern,
} from "./prompt_text.ts";

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

const MAX_WORDS = 40;
/** Shorter sentences may repeat intentionally: "Yes.", "Be brief." */
const MIN_REPEATED_CHARACTERS = 20;
/** Rows of tables and lines of data are not sentences. */
const IS_DATA = /^[|{[]/;

/** Finds sentences that are too long or repeated. */
function findWordySentences({ text, sentences }: PromptText): PromptIssue[] {
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

/** Verbs that request a text of unspecified length. */
const OPEN_REQUESTS = [
  ...["write", "explain", "describe", "summarize", "summarise", "generate", "create", "list"],
  ...["give", "tell", "analyze", "analyse", "compare", "draft", "outline", "suggest", "propose"],
  ...["provide", "discuss", "review", "make", "elaborate", "brainstorm", "compose"],
];
/** Verbs whose object determines the length of the answer. */
const CLOSED_REQUESTS = ["produce", "show", "extract", "identify", "solve", "find"];
const REQUEST = wordsPattern([...OPEN_REQUESTS, ...CLOSED_REQUESTS]);
const OPEN_REQUEST = wordsPattern(OPEN_REQUESTS);

const FORMAT = wordsPattern([
  ...["json", "yaml", "xml", "csv", "html", "markdown", "latex", "sql", "code", "table", "list"],
  ...["lists", "bullet", "bullets", "bullet points", "bulleted", "numbered", "heading", "headings"],
  ...["paragraph", "paragraphs", "sentence", "sentences", "essay", "email", "e-mail", "letter"],
  ...["poem", "haiku", "limerick", "sonnet", "song", "joke", "title", "headline", "headlines"],
  ...["tweet", "article", "report", "dialogue", "script", "speech", "press release", "recipe"],
  ...["readme", "file", "section", "sections", "description", "abstract", "caption", "slogan"],
  ...["format", "formatted", "template", "schema", "outline", "word", "words", "plain text"],
  ...["diagram", "diff", "step by step", "step-by-step", "yes or no", "one word", "object"],
  ...["array", "string", "number", "integer", "boolean", "true or false", "command", "line"],
  ...["lines", "name", "names", "translation", "function", "query", "regex", "message", "post"],
  ...["story", "steps", "each step", "note", "release notes", "docstring"],
]);

const UNIT = "words?|sentences?|paragraphs?|bullets?|bullet points?|items?|lines?|characters?|" +
  "pages?|tokens?|steps?|examples?|points?|reasons?|ideas?|options?|words? or fewer|tweets?|rows?";
/**
 * A length: a unit after an article or a number, any word after a number above one, or a word such
 * as "brief".
 */
const LENGTH = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:a|an|one|\\d{1,6})[\\s-]{1,3}(?:short\\s|brief\\s|single\\s)?(?:${UNIT})` +
    "|(?:\\d{1,6}|two|three|four|five|six|seven|eight|nine|ten)\\s{1,3}\\p{L}{2,40}" +
    "|(?:at most|no more than|up to|fewer than|less than|under|within|maximum of|max)\\s{1,3}\\d{1,6}" +
    "|brief|briefly|short|concise|concisely|succinct|tweet|haiku|limerick|sonnet|headline|title" +
    "|yes or no|one word|slogan|caption|joke|(?:half a|a|one|each) (?:page|screen|step)" +
    "|(?:per|a|one|each) line|nothing else|nothing more|alone|only)" +
    "(?![\\p{L}\\p{N}])",
  "u",
);

const UNBOUNDED = wordsPattern([
  ...["as much as possible", "as much detail as possible", "as many as possible"],
  ...["as detailed as possible", "as long as possible", "as long as you like", "everything about"],
  ...["everything you know", "all you know", "all the details", "all possible", "every possible"],
  ...["endless", "analysis of everything", "the longer the better", "no length limit"],
]);

/** The task determines the length of code. */
const CODE_WANTED =
  /(?<![\p{L}\p{N}])(?:a|an|one|the)\s(?:[\p{L}+#.]{1,20}\s){0,2}(?:function|regex|command|query|number)(?![\p{L}\p{N}])/u;

/** Finds what a prompt that requests a text should specify but does not. */
function findMissing({ text, prose, lowerProse }: PromptText): PromptIssue[] {
  const unbounded = [...lowerProse.matchAll(UNBOUNDED)].map(({ 0: found, index }): PromptIssue => ({
    code: "UNBOUNDED_LENGTH",
    message: `"${prose.slice(index, index + found.length)}" sets no limit`,
    start: index,
    end: index + found.length,
  }));
  if (!has(lowerProse, REQUEST)) return unbounded;
  const isBounded = unbounded.length > 0 || !has(lowerProse, OPEN_REQUEST) ||
    LENGTH.test(lowerProse) ||
    CODE_WANTED.test(lowerProse);
  return [
    ...unbounded,
    // A format may be shown as code.
    ...(has(text.toLowerCase(), FORMAT) ? [] : [
      {
        code: "MISSING_OUTPUT_FORMAT",
        message: "The prompt does not say which format the answer should have",
      } as const,
    ]),
    ...(isBounded ? [] : [
      {
        code: "UNBOUNDED_LENGTH",
        message: "The prompt does not say how long the answer should be",
      } as const,
    ]),
  ];
}

function has(text: string, pattern: RegExp): boolean {
  return text.search(pattern) >= 0;
}
