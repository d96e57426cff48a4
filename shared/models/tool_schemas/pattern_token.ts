/** A pattern that cannot be checked in bounded time. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** An escape, a class, the beginning of a group, a quantifier with its `?`, or one character. */
export const PATTERN_TOKEN =
  /\\k<[^>]*>|\\[pP]\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|P?<[^>]*>|[a-z-]*[:)]))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/gu;
