/** The operators of filters. */
const OPERATORS = [
  "eq",
  "neq",
  "lt",
  "lte",
  "gt",
  "gte",
  "in",
  "like",
  "ilike",
  "is",
  "match",
  "imatch",
  "isdistinct",
] as const;

/** The operator of a {@linkcode ChangeCondition}. */
export type ChangeOperator = typeof OPERATORS[number];

/** One condition on a column. All conditions of a filter must hold. */
export interface ChangeCondition {
  readonly column: string;
  readonly operator: ChangeOperator;
  /** The value as text. For `in`, a Postgres array literal. */
  readonly value: string;
  readonly isNegated: boolean;
}

/** A parsed filter, or the reason why it is invalid. */
export type ParsedFilter =
  | { readonly kind: "filter"; readonly conditions: readonly ChangeCondition[] }
  | { readonly kind: "invalid"; readonly reason: string };

/**
 * Parses a `postgres_changes` filter: `column=[not.]operator.value`, joined by commas. Values with
 * commas, quotes or parentheses must be in double quotes with backslash escapes.
 *
 * It only parses. Postgres evaluates the conditions with the columns' types.
 */
export function parseChangeFilter(filter: string | null | undefined): ParsedFilter {
  const text = (filter ?? "").trim();
  if (text === "") return { kind: "filter", conditions: [] };
  const conditions: ChangeCondition[] = [];
  for (const segment of splitTopLevel(text)) {
    const condition = parseCondition(segment.trim());
    if (typeof condition === "string") {
      return { kind: "invalid", reason: `Error parsing \`filter\` params: ${condition}` };
    }
    conditions.push(condition);
  }
  return { kind: "filter", conditions };
}

/** Splits at commas outside of parentheses and quoted values. */
function splitTopLevel(text: string): string[] {
  const segments: string[] = [];
  let depth = 0;
  let isQuoted = false;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (isQuoted) {
      if (char === "\\") index++;
      else if (char === '"') isQuoted = false;
      continue;
    }
    // A quote starts a quoted value only where a value can start. Elsewhere it is a character.
    if (char === '"') isQuoted = index > start && ".(,".includes(text.charAt(index - 1));
    else if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (char === "," && depth === 0) {
      segments.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...segments, text.slice(start)];
}

function parseCondition(segment: string): ChangeCondition | string {
  if (segment === "") return "filter must not contain empty segments (check for extra commas)";
  const match = /^([^=]+)=(not\.)?([^.]+)\.(.*)$/s.exec(segment);
  const [, column, negation, operator, value] = match ?? [];
  if (column === undefined || operator === undefined || value === undefined) {
    return JSON.stringify([segment]);
  }
  if (!isOperator(operator)) return JSON.stringify([operator, value]);
  const isNegated = negation !== undefined;
  if (operator !== "in") return { column, operator, value: unquote(value), isNegated };
  if (!value.startsWith("(") || !value.endsWith(")")) {
    return "`in` filter value must be wrapped by parentheses";
  }
  return { column, operator, value: `{${value.slice(1, -1)}}`, isNegated };
}

function isOperator(text: string): text is ChangeOperator {
  return OPERATORS.some((operator) => operator === text);
}

/** `"a\"b"` → `a"b`. Other text stays unchanged. */
function unquote(value: string): string {
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1];
  return inner === undefined ? value : inner.replace(/\\(.)/gs, "$1");
}
