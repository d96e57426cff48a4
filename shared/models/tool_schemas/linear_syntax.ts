import { PatternError } from "./pattern_token.ts";

/** A pattern in the syntax of the linear engine. */
export interface LinearSyntax {
  readonly source: string;
  /** Upper bound of the compiled instructions. */
  readonly size: number;
}

/** Larger programs take long to compile and to match. */
const MAX_SIZE = 5_000;
/** The engine's limit for one counted repetition; longer ones are written as several. */
const MAX_REPEATS = 1_000;
/** Classes of Unicode have hundreds of ranges, and thousands if case is ignored. */
const PROPERTY_SIZE = 20;
const FOLDED_PROPERTY_SIZE = 1_000;

/** The members of `\s` and of `\S` in ECMA-262; the engine knows only those of ASCII. */
const SPACE = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}" +
  "\\x{3000}\\x{feff}";
const NO_SPACE = "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" +
  "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}" +
  "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const ANY_OF_LINE = "[^\\n\\r\\x{2028}\\x{2029}]";

interface Atom {
  readonly start: number;
  readonly size: number;
}

interface OpenGroup {
  readonly start: number;
  size: number;
}

/**
 * Writes a pattern of ECMA-262 in the syntax of the linear engine, where both differ: `\s`, `.`,
 * brackets in classes, and counted repetitions above 1,000.
 *
 * @throws PatternError
 */
export function toLinearSyntax(tokens: readonly string[]): LinearSyntax {
  const propertySize = tokens.some((token) => /^\(\?[a-z]*i/.test(token))
    ? FOLDED_PROPERTY_SIZE
    : PROPERTY_SIZE;
  const parts: string[] = [];
  const groups: OpenGroup[] = [{ start: 0, size: 1 }];
  let last: Atom | null = null;
  const add = (part: string, size: number) => {
    const group = groups.at(-1);
    if (group === undefined) throw new PatternError("it closes a group that it does not open");
    group.size += size;
    if (group.size > MAX_SIZE) throw new PatternError("it repeats too much to be checked");
    last = { start: parts.length, size };
    parts.push(part);
  };
  for (const token of tokens) {
    if (token.startsWith("(") && !/^\(\?[a-z-]*\)$/.test(token)) {
      groups.push({ start: parts.length, size: 2 });
      parts.push(groupStart(token));
      last = null;
    } else if (token === ")") {
      const group = groups.pop();
      parts.push(token);
      if (group === undefined || groups.length === 0) add("", 0);
      else {
        add("", group.size);
        last = { start: group.start, size: group.size };
      }
    } else if (last !== null && /^(?:[*+?]|\{\d)/.test(token)) {
      const { start, size }: Atom = last;
      const { source, copies } = repeated(parts.splice(start).join(""), token);
      add(source, size * copies);
      last = null;
    } else add(translated(token), sizeOf(token, propertySize));
  }
  if (groups.length !== 1) throw new PatternError("a group in it has no end");
  return { source: parts.join(""), size: groups[0]?.size ?? 0 };
}

function groupStart(token: string): string {
  if (!/^\(\?<?[=!]/.test(token)) return token;
  throw new PatternError(
    "it has a lookahead or lookbehind, which cannot be checked except for lookaheads after ^",
  );
}

function translated(token: string): string {
  if (token === ".") return ANY_OF_LINE;
  if (token === "\\s") return `[${SPACE}]`;
  if (token === "\\S") return `[^${SPACE}]`;
  if (/^\\(?:[1-9]|k)/.test(token)) {
    throw new PatternError("it has a backreference, which cannot be checked");
  }
  return token.startsWith("[") && token.length > 1 ? characterClass(token) : token;
}

function characterClass(token: string): string {
  const isNegated = token.startsWith("[^");
  const members = token.slice(isNegated ? 2 : 1, -1)
    .replace(/\\[pP]\{[^}]*\}|\\[^]|\[/gu, (part) => {
      if (part === "\\s") return SPACE;
      if (part === "\\S") return NO_SPACE;
      if (part === "\\b") return "\\x08";
      return part === "[" ? "\\[" : part;
    });
  return `[${isNegated ? "^" : ""}${members}]`;
}

function sizeOf(token: string, propertySize: number): number {
  const properties = token.match(/\\[pP]/g)?.length ?? 0;
  return 1 + properties * propertySize + (token.startsWith("[") ? Math.ceil(token.length / 10) : 0);
}

/** An atom with its quantifier, and how many copies of it the program has. */
function repeated(atom: string, quantifier: string): { source: string; copies: number } {
  const counts = /^\{(\d+)(,?)(\d*)\}(\??)$/.exec(quantifier);
  if (counts === null) return { source: atom + quantifier, copies: 1 };
  const [, least = "", comma, most = "", lazy = ""] = counts;
  const min = Number(least);
  const max = comma === "" ? min : most === "" ? Infinity : Number(most);
  if (min > max) throw new PatternError("the numbers of a repetition are out of order");
  const copies = Math.max(1, max === Infinity ? min + 1 : max);
  if (copies > MAX_SIZE) throw new PatternError("it repeats too much to be checked");
  if (copies <= MAX_REPEATS) return { source: atom + quantifier, copies };
  const rest = max === Infinity ? [`${atom}*${lazy}`] : pieces(max - min, (n) => `{0,${n}}${lazy}`);
  const all = [...pieces(min, (count) => `{${count}}${lazy}`), ...rest];
  return {
    source: `(?:${all.map((piece) => piece.startsWith("{") ? atom + piece : piece).join("")})`,
    copies,
  };
}

function pieces(count: number, quantifierOf: (count: number) => string): string[] {
  const full = Array.from({ length: Math.floor(count / MAX_REPEATS) }, () => MAX_REPEATS);
  const left = count % MAX_REPEATS;
  return [...full, ...(left === 0 ? [] : [left])].map(quantifierOf);
}
