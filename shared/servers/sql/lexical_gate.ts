/** Longer texts cost the parser seconds in the worst case. */
const MAX_SQL_CHARACTERS = 20_000;

/**
 * The parser reads the rest of a run of operator characters again for each `/*` in it. Lines of
 * dashes and stars are far shorter.
 */
const MAX_OPERATOR_CHARACTERS = 1_000;
const OPERATOR_CHARACTERS = /[-~!@#^&|`?+*/%<>=]+/g;

/** Characters that change what a person sees without changing what the server reads. */
const INVISIBLE = /[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/u;

/** The reason why a text must not reach the parser; null if it may. */
export function lexicalProblem(sql: string): string | null {
  if (sql.length > MAX_SQL_CHARACTERS) {
    return `The text has ${sql.length} characters; at most ${MAX_SQL_CHARACTERS} are allowed.`;
  }
  if (sql.match(OPERATOR_CHARACTERS)?.some(({ length }) => length > MAX_OPERATOR_CHARACTERS)) {
    return `The text has more than ${MAX_OPERATOR_CHARACTERS} operator characters in a row.`;
  }
  // A NUL ends the text early for the server but not for the parser.
  if (sql.includes("\0")) return "The text contains a NUL character.";
  // The server would read a lone surrogate as another character than the parser.
  if (!sql.isWellFormed()) return "The text contains a lone surrogate.";
  return null;
}

/** A warning for a person who reviews a statement; null if all of its characters are visible. */
export function visibilityWarning(sql: string): string | null {
  return INVISIBLE.test(sql)
    ? "The text contains invisible or direction-changing characters: it may not be what it looks like."
    : null;
}
