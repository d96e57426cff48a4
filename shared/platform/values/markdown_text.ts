/**
 * The one way in which untrusted text gets into a Markdown document: on one line, as code, in a
 * fence, or in an HTML comment. In none of these can it end what surrounds it, become markup, or hide
 * itself from a reader.
 */

/** Characters that reorder a line, a terminal obeys, or nobody sees; joiners belong to words. */
const INVISIBLE = /\p{Bidi_Control}|[\u200B\u2060-\u2064\uFEFF]|(?![\n\t]|\r\n)\p{Cc}/gu;
/** The backslash first: it escapes the others. */
const MARKUP = [..."\\`*_[]#|~"];
/** Others begin no tag, link or comment. */
const TAG_BEGIN = /<(?=[A-Za-z/!?])/g;
/** Words of characters that mean nothing in Markdown, which is what most cells of a table contain. */
const PLAIN = /^[A-Za-z0-9.,:;+/@()%'"!?=$&{}-]+(?: [A-Za-z0-9.,:;+/@()%'"!?=$&{}-]+)*$/;
const MIN_FENCE_CHARACTERS = 3;

/** The text on one line, with everything escaped that could be markup or end a comment. */
export function inlineText(text: string): string {
  if (PLAIN.test(text)) return text;
  // A pass for each sign is several times as fast as one pattern for all of them.
  const escaped = MARKUP.reduce(
    (line, sign) => line.replaceAll(sign, `\\${sign}`),
    plainLine(text),
  );
  return withoutCommentEnd(escaped.replace(TAG_BEGIN, "&lt;"));
}

/** A code span, delimited by more backticks than it contains; bars are escaped for tables. */
export function codeSpan(text: string): string {
  const line = plainLine(text).replaceAll("|", "\\|");
  const longest = longestRun(line);
  const marks = "`".repeat(longest + 1);
  return longest === 0 ? `${marks}${line}${marks}` : `${marks} ${line} ${marks}`;
}

/** A fence longer than every run of backticks in the text. */
export function fencedText(text: string, language: string): string {
  const marks = "`".repeat(Math.max(MIN_FENCE_CHARACTERS, longestRun(text) + 1));
  return `${marks}${language}\n${text}\n${marks}`;
}

/** A comment that ends where this text ends. */
export function commentText(text: string): string {
  return `<!-- ${withoutCommentEnd(text)}\n-->`;
}

/** The text without what would end or begin an HTML comment, or would not be seen. */
export function withoutCommentEnd(text: string): string {
  return visibleText(text).replace(/--(!?)>/g, "--$1&gt;").replaceAll("<!--", "&lt;!--");
}

/** The text without characters that would not be seen. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, "");
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** The text on one line, without characters that would not be seen. */
export function plainLine(text: string): string {
  return visibleText(text.replace(/\s+/g, " ")).trim();
}
