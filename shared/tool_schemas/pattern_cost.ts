/**
 * Bounds how many steps matching a pattern takes: the length of the text to this power, times this.
 */
export interface PatternCost {
  readonly degree: number;
  readonly factor: number;
}

interface Group {
  alternatives: number;
  /** It can match in several ways, so that repetition multiplies them. */
  isVariable: boolean;
}

/**
 * The maximum cost of matching a regular expression; null if it is not simple to compute: with
 * backreferences, or with repeated groups that contain repetitions or alternatives, such as
 * `(a+)+`.
 */
export function patternCost(pattern: string): PatternCost | null {
  const groups: Group[] = [{ alternatives: 1, isVariable: false }];
  let degree = 0;
  let factor = 1;
  let ended: Group | null = null;
  for (const [token] of pattern.matchAll(TOKEN)) {
    const group = groups.at(-1);
    if (group === undefined) return null;
    const repeated = ended;
    ended = null;
    if (BACKREFERENCE.test(token)) return null;
    if (token.startsWith("(")) groups.push({ alternatives: 1, isVariable: false });
    else if (token === "|") {
      group.alternatives++;
      group.isVariable = true;
    } else if (token === ")") {
      groups.pop();
      factor *= group.alternatives;
      const outer = groups.at(-1);
      if (outer !== undefined) outer.isVariable ||= group.isVariable;
      ended = group;
    } else if (/^[*+{]/.test(token)) {
      if (repeated?.isVariable) return null;
      if (/^\{\d+\}/.test(token)) continue;
      degree++;
      group.isVariable = true;
    } else if (token.startsWith("?")) {
      factor *= 2;
      group.isVariable = true;
    }
  }
  const [whole, ...open] = groups;
  if (whole === undefined || open.length > 0) return null;
  const isAnchored = pattern.startsWith("^") && whole.alternatives === 1;
  return { degree: isAnchored ? degree : degree + 1, factor: factor * whole.alternatives };
}

/** An escape, a class, the beginning of a group, a quantifier with its `?`, or one character. */
const TOKEN =
  /\\k<[^>]*>|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/gu;
const BACKREFERENCE = /^\\[1-9k]/;
