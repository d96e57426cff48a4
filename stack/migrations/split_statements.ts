/** One statement of an SQL file. */
export interface SqlStatement {
  /** The statement without its semicolon, surrounding blanks and leading comments. */
  readonly text: string;
  /** The line of the file on which `text` starts, from 1. */
  readonly line: number;
}

/** Text in which a semicolon does not end the statement. */
const QUOTED = [
  /--[^\n]*/y,
  /[eE]'(?:[^'\\]|\\[^]|'')*'/y,
  /'(?:[^']|'')*'/y,
  /"(?:[^"]|"")*"/y,
  /\$(\w*)\$[^]*?\$\1\$/y,
];
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const NUMBER = /\d[\p{L}\p{N}_$.]*/uy;
const ROUTINE = /create\s+(?:or\s+replace\s+)?(?:function|procedure)\b/iy;

/**
 * Splits an SQL file at the semicolons that end a statement, but not in strings, quoted names,
 * dollar quotes, comments, parentheses or `begin atomic … end` bodies. Drops text that has only
 * comments. Does not validate the SQL: an unclosed string runs to the end of the file.
 */
export function splitStatements(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let start = 0;
  // Counted on from the last statement: a release has thousands.
  let counted = { at: 0, line: 1 };
  const add = (end: number) => {
    start = skipBlanks(sql, start);
    const text = sql.slice(start, Math.max(start, end)).trimEnd();
    if (text === "") return;
    const line = counted.line + lineAt(sql.slice(counted.at, start), start - counted.at) - 1;
    counted = { at: start, line };
    statements.push({ text, line });
  };
  let parentheses = 0;
  let atomicDepth = 0;
  for (let at = 0; at < sql.length;) {
    const token = readToken(sql, at);
    if (token === "(") parentheses++;
    else if (token === ")") parentheses = Math.max(0, parentheses - 1);
    else if (token === ";" && parentheses === 0 && atomicDepth === 0) {
      add(at);
      start = at + 1;
    } else if (isAtomicBoundary(token) && isRoutine(sql, skipBlanks(sql, start))) {
      atomicDepth = nextAtomicDepth(atomicDepth, token);
    }
    at += token.length;
  }
  add(sql.length);
  return statements;
}

function isRoutine(sql: string, start: number): boolean {
  ROUTINE.lastIndex = start;
  return ROUTINE.test(sql);
}

/** Returns the line, from 1, of the character at `offset`. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Reads the token at `at`. */
function readToken(sql: string, at: number): string {
  if (sql.startsWith("/*", at)) return sql.slice(at, blockCommentEnd(sql, at));
  for (const pattern of [...QUOTED, WORD, NUMBER]) {
    pattern.lastIndex = at;
    const match = pattern.exec(sql);
    if (match !== null) return match[0];
  }
  const rest = sql.charAt(at);
  return rest === "'" || rest === '"' ? sql.slice(at) : rest;
}

/** Returns the end of a block comment. Block comments nest in PostgreSQL. */
function blockCommentEnd(sql: string, at: number): number {
  let depth = 0;
  for (let i = at; i < sql.length - 1; i++) {
    const pair = sql.slice(i, i + 2);
    if (pair !== "/*" && pair !== "*/") continue;
    depth += pair === "/*" ? 1 : -1;
    i++;
    if (depth === 0) return i + 1;
  }
  return sql.length;
}

/** Returns the first position from `at` that is neither blank nor part of a comment. */
function skipBlanks(sql: string, at: number): number {
  while (at < sql.length) {
    const token = readToken(sql, at);
    if (!/^(\s|--|\/\*)/.test(token)) return at;
    at += token.length;
  }
  return at;
}

function isAtomicBoundary(token: string): boolean {
  return /^(begin|case|end)$/i.test(token);
}

/** A body may contain `case … end`. `begin` opens a body only when none is open. */
function nextAtomicDepth(depth: number, token: string): number {
  const word = token.toLowerCase();
  if (word === "end") return Math.max(0, depth - 1);
  return word === "begin" || depth > 0 ? depth + 1 : depth;
}
