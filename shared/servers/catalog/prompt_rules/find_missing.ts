import { type PromptIssue, type PromptText, wordsPattern } from "./prompt_text.ts";

/** Verbs that request a new text. */
const REQUEST = wordsPattern([
  ...[
    "write",
    "explain",
    "describe",
    "summarize",
    "summarise",
    "generate",
    "create",
    "list",
    "give",
  ],
  ...["tell", "analyze", "analyse", "compare", "draft", "outline", "suggest", "propose", "provide"],
  ...[
    "discuss",
    "review",
    "translate",
    "rewrite",
    "produce",
    "make",
    "show",
    "extract",
    "identify",
  ],
]);

const FORMAT = wordsPattern([
  ...["json", "yaml", "xml", "csv", "html", "markdown", "latex", "sql", "code", "table", "list"],
  ...["lists", "bullet", "bullets", "bullet points", "bulleted", "numbered", "heading", "headings"],
  ...["paragraph", "paragraphs", "sentence", "sentences", "essay", "email", "e-mail", "letter"],
  ...["poem", "haiku", "title", "headline", "tweet", "article", "report", "dialogue", "script"],
  ...["format", "formatted", "template", "schema", "outline", "word", "words", "plain text"],
  ...[
    "diagram",
    "diff",
    "step by step",
    "step-by-step",
    "yes or no",
    "one word",
    "object",
    "array",
  ],
  ...["function", "query", "regex", "message", "post", "story", "steps", "note"],
]);

const UNIT = "words?|sentences?|paragraphs?|bullets?|bullet points?|items?|lines?|characters?|" +
  "pages?|tokens?|steps?|examples?|points?|reasons?|ideas?|options?|words? or fewer|tweets?|rows?";
/** A unit after an article or a number, any word after a number above one, or a word that says it. */
const LENGTH = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:a|an|one|\\d{1,6})[\\s-]{1,3}(?:short\\s|brief\\s|single\\s)?(?:${UNIT})` +
    "|(?:\\d{1,6}|two|three|four|five|six|seven|eight|nine|ten)\\s{1,3}\\p{L}{2,40}" +
    "|(?:at most|no more than|up to|fewer than|less than|under|within|maximum of|max)\\s{1,3}\\d{1,6}" +
    "|brief|briefly|short|concise|concisely|succinct|tweet|haiku|headline|title|yes or no|one word)" +
    "(?![\\p{L}\\p{N}])",
  "iu",
);

const UNBOUNDED = wordsPattern([
  ...["as much as possible", "as much detail as possible", "as many as possible"],
  ...["as detailed as possible", "as long as possible", "as long as you like", "everything about"],
  ...["everything you know", "all the details", "all possible", "every possible", "endless"],
]);

/** Finds what a prompt that requests a text should specify but does not. */
export function findMissing({ text, prose }: PromptText): PromptIssue[] {
  const unbounded = [...prose.matchAll(UNBOUNDED)].map(({ 0: found, index }): PromptIssue => ({
    code: "UNBOUNDED_LENGTH",
    message: `"${found}" sets no limit`,
    start: index,
    end: index + found.length,
  }));
  if (!has(prose, REQUEST)) return unbounded;
  return [
    ...unbounded,
    // A format may be shown as code.
    ...(has(text, FORMAT) ? [] : [
      {
        code: "MISSING_OUTPUT_FORMAT",
        message: "The prompt does not say which format the answer should have",
      } as const,
    ]),
    ...(unbounded.length > 0 || LENGTH.test(prose) ? [] : [
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
