import { MAX_ISSUES, type PromptIssue, type PromptText, type TextSpan } from "./prompt_text.ts";

/** Placeholders of common template languages. */
const FORMS = [
  // {{ name }}, {{name|filter}}
  String.raw`\{\{\{?~?\s{0,4}[\w.$-]{1,60}(?:\s{0,4}\|\s{0,4}[\w.:'" -]{1,40})?\s{0,4}~?\}\}\}?`,
  // ${name}, #{name}, @{name}
  String.raw`[$#@]\{[\w.-]{1,60}\}`,
  // {name}, {0}, {}
  String.raw`(?<![\p{L}\p{N}\\^_}/{])\{(?:[A-Za-z_][\w.-]{0,60}|\d{1,3})?\}(?!\})`,
  // <%= name %>
  String.raw`<%[=-]\s{0,4}[\w.'"-]{1,60}\s{0,4}-?%>`,
  // %(name)s, %s
  String.raw`%\([\w.-]{1,60}\)[sdr]|(?<![\p{L}\p{N}%])%s(?![\p{L}\p{N}])`,
  // $USER_INPUT
  String.raw`(?<![\p{L}\p{N}$])\$[A-Z][A-Z0-9]*_[A-Z0-9_]{1,60}(?![\p{L}\p{N}])`,
  // [[name]]
  String.raw`\[\[\s{0,4}[\w .-]{1,60}\]\]`,
  // [NAME], except links and common markers
  String
    .raw`\[(?!(?:NOTE|TODO|WARNING|IMPORTANT|INST|OPTIONAL)\])[A-Z][A-Z0-9]+(?:[_ -][A-Z0-9]+)*\](?!\()`,
  // [insert text here], <your text>
  String.raw`\[(?:insert|your|user|paste|enter)\s[^\]\n]{1,60}\](?!\()`,
  String.raw`<(?:insert|your|user|paste|enter)[ _-][^<>\n]{1,60}>`,
  // <customer_name>, <NAME>
  String.raw`<[a-z][a-z0-9]*_[a-z0-9_]{1,60}>|<[A-Z][A-Z0-9_]{1,60}>`,
];
const PLACEHOLDER = new RegExp(FORMS.join("|"), "gu");
const HTML = /^<(?:BR|HR|H[1-6]|DIV|SPAN|LI|UL|OL|TABLE|TD|TH|TR|IMG|BODY|HEAD|HTML|PRE|CODE)>$/;
const ELEMENT = /<([A-Za-z][\w-]{0,60})>[^<]*<\/\1>/g;
/** A line of marks; the same line above and below a placeholder delimits it. */
const RULE = /^\s*([-=#*~_]{3,20})\s*$/;
/** Number of characters around a placeholder that are searched for such lines. */
const RULE_REACH = 60;
const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": "”",
  "‘": "’",
  "«": "»",
};

/**
 * Finds placeholders without delimiters around them. A model cannot tell untrusted text inserted
 * there from the prompt.
 */
export function findPlaceholders({ text, enclosed }: PromptText): PromptIssue[] {
  const isEnclosed = membership(enclosed);
  const isInElement = membership(
    [...text.matchAll(ELEMENT)].map(({ 0: element, index }) => ({
      start: index,
      end: index + element.length,
    })),
  );
  const isDelimiter = delimiterTags(text);
  const isDelimited = (found: string, start: number, end: number) =>
    isDelimiter(found) || isEnclosed(start) || isInElement(start) ||
    isQuoted(text, start, end) || isBetweenRules(text, start, end);
  return text.matchAll(PLACEHOLDER)
    .filter(({ 0: found, index }) => !isDelimited(found, index, index + found.length))
    .take(MAX_ISSUES)
    .map(({ 0: found, index }): PromptIssue => ({
      code: "INJECTION_PRONE_PLACEHOLDER",
      message: `No delimiters surround the text inserted at ${found}`,
      start: index,
      end: index + found.length,
    }))
    .toArray();
}

/** Whether an index lies in one of the spans. Indices must be passed in ascending order. */
function membership(spans: readonly TextSpan[]): (index: number) => boolean {
  let next = 0;
  return (index) => {
    while ((spans[next]?.end ?? Infinity) <= index) next++;
    return (spans[next]?.start ?? Infinity) <= index;
  };
}

/** A tag that is closed somewhere, or is HTML, is itself a delimiter. */
function delimiterTags(text: string): (found: string) => boolean {
  const closed = new Set([...text.matchAll(/<\/([\w -]{1,60})>/g)].map(([, name]) => name));
  return (found) => found.startsWith("<") && (HTML.test(found) || closed.has(found.slice(1, -1)));
}

function isQuoted(text: string, start: number, end: number): boolean {
  const closing = QUOTES[text[start - 1] ?? ""];
  return closing !== undefined && text[end] === closing;
}

function isBetweenRules(text: string, start: number, end: number): boolean {
  if (!/[\n \t]/.test(text[end] ?? "")) return false;
  const before = text.slice(Math.max(0, start - RULE_REACH), start);
  const after = text.slice(end, end + RULE_REACH);
  const lineBefore = /(?:^|\n)([^\n]*)\n[ \t]*$/.exec(before)?.[1] ?? "";
  const lineAfter = /^[ \t]*\n([^\n]*)/.exec(after)?.[1] ?? "";
  const mark = RULE.exec(lineBefore)?.[1];
  return mark !== undefined && RULE.exec(lineAfter)?.[1] === mark;
}
