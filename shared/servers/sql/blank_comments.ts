/**
 * Comments and everything that must not be mistaken for one: escape strings, other strings, quoted
 * names, dollar quotes, line comments, the start of a block comment.
 */
const PIECES =
  /(?<![\w$])[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w$])(\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)[\s\S]*?\1|--[^\n\r]*|\/\*/g;

/**
 * The text with comments replaced by spaces, so that every other character keeps its position; null
 * if there are none. The parser needs this where it looks one word ahead (`NOT IN`, `NULLS LAST`)
 * and finds a comment, which PostgreSQL itself skips.
 *
 * A caller that checks the result must also run the result.
 */
export function blankComments(sql: string): string | null {
  const parts: string[] = [];
  let end = 0;
  PIECES.lastIndex = 0;
  for (let piece = PIECES.exec(sql); piece !== null; piece = PIECES.exec(sql)) {
    if (!piece[0].startsWith("--") && piece[0] !== "/*") continue;
    const commentEnd = piece[0] === "/*" ? endOfBlock(sql, piece.index) : PIECES.lastIndex;
    if (commentEnd === null) return null;
    parts.push(sql.slice(end, piece.index), blank(sql.slice(piece.index, commentEnd)));
    PIECES.lastIndex = end = commentEnd;
  }
  return end === 0 ? null : parts.join("") + sql.slice(end);
}

/** Block comments nest. Null if it is never closed. */
function endOfBlock(sql: string, start: number): number | null {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return null;
}

/** Line breaks stay: a line break between two strings concatenates them. */
function blank(comment: string): string {
  return comment.replace(/[^\n\r]/g, " ");
}
