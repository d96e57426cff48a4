import { PatternError } from "./pattern_token.ts";

/** A lookahead at the beginning of a pattern, as a pattern of its own. */
export interface LeadingCondition {
  /** Anchored at the beginning. */
  readonly tokens: readonly string[];
  readonly isNegative: boolean;
}

/** A pattern that matches a text if its rest does and its conditions hold. */
export interface SplitPattern {
  readonly conditions: readonly LeadingCondition[];
  readonly rest: readonly string[];
}

/**
 * Splits the lookaheads from the beginning of a pattern, as in `^(?=.*[0-9])(?!.*admin).{8,}$`: each
 * of them holds if it matches at the beginning of the text, so they can be matched one by one.
 *
 * @throws PatternError if alternatives make them apply to a part of the pattern only.
 */
export function splitLeadingConditions(tokens: readonly string[]): SplitPattern {
  const conditions: LeadingCondition[] = [];
  let start = 1;
  while (tokens[0] === "^" && /^\(\?[=!]$/.test(tokens[start] ?? "")) {
    const end = endOfGroup(tokens, start);
    const inner = tokens.slice(start + 1, end);
    conditions.push({
      tokens: ["^", "(?:", ...inner, ")"],
      isNegative: tokens[start] === "(?!",
    });
    start = end + 1;
  }
  if (conditions.length === 0) return { conditions, rest: tokens };
  const rest = ["^", ...tokens.slice(start)];
  if (hasAlternatives(rest)) {
    throw new PatternError("it has alternatives beside a lookahead, which cannot be checked");
  }
  return { conditions, rest };
}

function endOfGroup(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let place = start; place < tokens.length; place++) {
    if (tokens[place]?.startsWith("(")) depth++;
    if (tokens[place] === ")" && --depth === 0) return place;
  }
  throw new PatternError("a group in it has no end");
}

/** Outside of groups. */
function hasAlternatives(tokens: readonly string[]): boolean {
  let depth = 0;
  return tokens.some((token) => {
    if (token.startsWith("(")) depth++;
    if (token === ")") depth--;
    return token === "|" && depth === 0;
  });
}
