import { RE2JS } from "../../vendor/re2js.js";
import { PATTERN_TOKEN, PatternError } from "./pattern_token.ts";
import type { StepBudget } from "./step_budget.ts";

/** A regular expression of a schema. Matching takes time in proportion to the text's length. */
export interface LinearPattern {
  /**
   * Whether it occurs in a text.
   *
   * @throws StepsSpentError
   */
  test(text: string, budget: StepBudget): boolean;
}

/** Instructions that one character costs at least, and that cost one step together. */
const LEAST_INSTRUCTIONS = 3;
const INSTRUCTIONS_PER_STEP = 140;
/** What compiling costs, in steps. */
const STEPS_PER_CHARACTER = 10;
const STEPS_PER_INSTRUCTION = 6;
/** What the code points of a property cost, which the engine collects on first use: about 7 ms. */
const STEPS_PER_PROPERTY = 4_000;

/**
 * Compiles a pattern of a JSON Schema, which is a regular expression of ECMA-262. It must not have
 * backreferences, and lookaheads only at its beginning (`^(?=…)(?!…)…`), because nothing else can
 * be matched in linear time.
 *
 * @throws PatternError if it cannot be checked in bounded time, or is malformed.
 * @throws StepsSpentError if it takes too long to compile.
 */
export function compilePattern(pattern: string, budget: StepBudget): LinearPattern {
  const tokens = pattern.match(PATTERN_TOKEN) ?? [];
  const { conditions, rest } = splitLeadingConditions(tokens);
  const parts = [
    ...conditions.map(({ tokens, isNegative }) => ({ ...compile(tokens, budget), isNegative })),
    { ...compile(rest, budget), isNegative: false },
  ];
  const instructions = parts.reduce((sum, { size }) => sum + size + LEAST_INSTRUCTIONS, 0);
  return {
    test(text, budget) {
      budget.spend(1 + (text.length + 1) * instructions / INSTRUCTIONS_PER_STEP);
      return parts.every(({ engine, isNegative }) => engine.test(text) !== isNegative);
    },
  };
}

/** Compiling takes longer than matching, and every call has its own copy of its tool's schema. */
const engines = new Map<string, RE2JS>();
const MAX_ENGINES = 200;

function compile(tokens: readonly string[], budget: StepBudget) {
  const { source, size } = toLinearSyntax(tokens);
  // Whether the engine is known must not change the verdict, so it costs the same.
  budget.spend(
    source.length * STEPS_PER_CHARACTER + size * STEPS_PER_INSTRUCTION +
      new Set(source.match(/(?<=\\[pP]\{)[^}]*/g)).size * STEPS_PER_PROPERTY,
  );
  return { engine: engineOf(source), size };
}

function engineOf(source: string): RE2JS {
  const known = engines.get(source);
  if (known !== undefined) return known;
  const engine = RE2JS.compile(RE2JS.translateRegExp(source));
  const [oldest] = engines.keys();
  if (engines.size >= MAX_ENGINES && oldest !== undefined) engines.delete(oldest);
  engines.set(source, engine);
  return engine;
}

/** A lookahead at the beginning of a pattern, as a pattern of its own. */
interface LeadingCondition {
  /** Anchored at the beginning. */
  readonly tokens: readonly string[];
  readonly isNegative: boolean;
}

/** A pattern that matches a text if its rest does and its conditions hold. */
interface SplitPattern {
  readonly conditions: readonly LeadingCondition[];
  readonly rest: readonly string[];
}

/**
 * Splits the lookaheads from the beginning of a pattern, as in `^(?=.*[0-9])(?!.*admin).{8,}$`: each
 * of them holds if it matches at the beginning of the text, so they can be matched one by one.
 *
 * @throws PatternError if alternatives make them apply to a part of the pattern only.
 */
function splitLeadingConditions(tokens: readonly string[]): SplitPattern {
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

/** A pattern in the syntax of the linear engine. */
interface LinearSyntax {
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
function toLinearSyntax(tokens: readonly string[]): LinearSyntax {
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
