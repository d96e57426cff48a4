import { RE2JS } from "../../vendor/re2js.js";
import { toLinearSyntax } from "./linear_syntax.ts";
import { splitLeadingConditions } from "./leading_conditions.ts";
import { PATTERN_TOKEN } from "./pattern_token.ts";
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
