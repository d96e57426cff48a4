import type { PromptIssue, PromptText } from "./prompt_text.ts";

/** `{{name}}`, `${name}`, `{name}`, `%(name)s`, `[NAME]` and `<NAME>`. */
const PLACEHOLDER =
  /\{\{\s{0,4}[\w.-]{1,60}\s{0,4}\}\}|\$\{[\w.-]{1,60}\}|\{[A-Za-z_][\w.-]{0,60}\}|%\([\w.-]{1,60}\)s|\[[A-Z][A-Z0-9_ -]{1,60}\]|<[A-Z][A-Z0-9_]{1,60}>/g;
const FENCED = /```[\s\S]*?```|"""[\s\S]*?"""|<([A-Za-z][\w-]{0,60})>[^<]*<\/\1>/g;
const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": "”",
  "«": "»",
};

/**
 * Finds placeholders without delimiters that show where the inserted text ends: untrusted text
 * there reads like a part of the prompt.
 */
export function findPlaceholders({ text }: PromptText): PromptIssue[] {
  const fences = [...text.matchAll(FENCED)].map(({ 0: fence, index }) => ({
    start: index,
    end: index + fence.length,
  }));
  let next = 0;
  return [...text.matchAll(PLACEHOLDER)].flatMap(({ 0: found, index }): PromptIssue[] => {
    while ((fences[next]?.end ?? Infinity) <= index) next++;
    const isFenced = (fences[next]?.start ?? Infinity) < index;
    if (isFenced || isQuoted(text, index, index + found.length)) return [];
    return [{
      code: "INJECTION_PRONE_PLACEHOLDER",
      message: `No delimiters surround the text inserted at ${found}`,
      start: index,
      end: index + found.length,
    }];
  });
}

function isQuoted(text: string, start: number, end: number): boolean {
  const closing = QUOTES[text[start - 1] ?? ""];
  return closing !== undefined && text[end] === closing;
}
