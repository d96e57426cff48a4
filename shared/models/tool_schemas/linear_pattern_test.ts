import assert from "node:assert/strict";
import { seededRandom } from "../../../scripts/seeded_random.ts";
import { timed } from "../../../scripts/test/cpu_time.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { findArgumentProblems } from "../../gateway/tools/learning/argument_problems.ts";
import { compilePattern } from "./linear_pattern.ts";
import { StepBudget } from "./step_budget.ts";
import { validateValue } from "./validate_value.ts";

const EVIL = "^(a+)+$";
const EVIL_TEXT = `${"a".repeat(40)}!`;
/** Each has code points of its own, which are collected on first use. */
const MANY_PROPERTIES =
  ("Arabic Armenian Bengali Bopomofo Cherokee Cyrillic Devanagari Ethiopic Georgian Gujarati Hangul " +
    "Hebrew Hiragana Kannada Katakana Khmer Lao Malayalam Mongolian Myanmar Oriya Runic Sinhala " +
    "Syriac Tamil Telugu Thaana Thai Tibetan Yi").split(" ").map((name) => `\\p{Script=${name}}`);
/** The longest step of a request with the margin of `tests/security/blocked_loop.ts`. */
const MAX_CPU_MS = 150;

function matches(pattern: string, text: string): boolean {
  return compilePattern(pattern, new StepBudget(Infinity)).test(text, new StepBudget(Infinity));
}

function withText(text: JsonObject): JsonObject {
  return { type: "object", properties: { text } };
}

Deno.test("patterns mean the same as in ECMA-262", () => {
  const patterns = [
    ...["^[0-9a-f]{8}-[0-9a-f]{4}$", "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$", "[a-z]+", "^\\S+$", "\\s"],
    ...["^(GET|PUT|POST)$", "^https?://(?:[\\])]*)$", "^(?:ab)*$", "^.$", "a.b", "^[^]$", "[]"],
    ...["^(?=.*[0-9])(?=.*[A-Z]).{4,}$", "^(?!.*admin)[a-z]+$", "^(?!a|b)", "^(?=a(?:b|\\)))a"],
    ...["^\\u0041\\u{42}\\x43$", "^\\p{L}+$", "^\\p{Script=Greek}$", "^\\P{L}$", "^[\\p{Lu}_]$"],
    ...[
      "^[\\S]$",
      "^[^\\s]$",
      "^[\\s\\S]{2}$",
      "^[[\\]]$",
      "^[\\w.-]$",
      "\\bfoo\\b",
      "^a{1,1500}$",
    ],
    ...["^a{1200}$", "^a{1100,}$", "^(?<year>\\d{4})$", "^a??b$", "^$", "^[\\b]$", "x|^y", "\\/"],
  ];
  const texts = [
    ...["", "a", "ab", "abab", "A1bc", "admin", "b", "x", "y", "GET", "POST ", "foo", "a foo b"],
    ...[
      "a@b.de",
      "a b@c.de",
      "\u00a0",
      "\u2028",
      "\ufeff",
      "\n",
      "\r",
      "a\rb",
      "a\u2028b",
      "\u0085",
    ],
    ...["ABC", "Ω", "é", "1", "_", "[", "]", ".", "-", "\b", "2026", "0123abcd-0123", "https://]"],
    ...["a".repeat(1_100), "a".repeat(1_200), "a".repeat(1_500), "a".repeat(1_501), "😀", "\ud800"],
    ...["a)", "aab", "/", "\u180e", "\v\f"],
  ];
  for (const pattern of patterns) {
    const expected = new RegExp(pattern, "u");
    for (const text of texts.filter((text) => text.isWellFormed())) {
      assert.equal(
        matches(pattern, text),
        expected.test(text),
        `${pattern} ${JSON.stringify(text)}`,
      );
    }
  }
});

Deno.test("properties have the code points of ECMA-262, also if they are negated", () => {
  const properties = [
    ...["L", "Lu", "Letter", "gc=Nd", "Cn", "Cs", "Co", "Alphabetic", "ASCII", "Any", "Assigned"],
    ...["Script=Greek", "sc=Han", "Script_Extensions=Greek", "Noncharacter_Code_Point"],
  ];
  for (const property of properties) {
    for (const pattern of [`^\\p{${property}}$`, `^\\P{${property}}$`, `^[^\\p{${property}}_]$`]) {
      const expected = new RegExp(pattern, "u");
      const linear = compilePattern(pattern, new StepBudget(Infinity));
      const free = new StepBudget(Infinity);
      // A prime, so that every block is visited at another place, and the ends of all planes.
      for (let point = 0; point <= 0x10ffff; point += point % 0x10000 > 0xfff0 ? 1 : 31) {
        const text = String.fromCodePoint(point);
        if (linear.test(text, free) === expected.test(text)) continue;
        assert.fail(`${pattern} ${point.toString(16)}`);
      }
    }
  }
});

Deno.test("properties ignore case where a pattern does", () => {
  for (const property of ["Lu", "Ll", "Lt", "L", "Script=Greek", "Script=Latin", "Any"]) {
    const pattern = `\\p{${property}}`;
    const expected = new RegExp(`^${pattern}$`, "iu");
    const linear = compilePattern(`(?i)^${pattern}$`, new StepBudget(Infinity));
    // Up to the characters whose case the engine's version of Unicode may not know.
    for (let point = 0; point < 0xa7c0; point++) {
      const text = String.fromCodePoint(point);
      if (linear.test(text, new StepBudget(Infinity)) === expected.test(text)) continue;
      assert.fail(`${pattern} ${point.toString(16)}`);
    }
  }
});

Deno.test("generated patterns mean the same as in ECMA-262", () => {
  const random = seededRandom(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const parts = [
    ...["a", "b", ".", "\\s", "\\S", "\\d", "\\w", "[ab]", "[^a]", "[^\\s]", "[\\S1]", "(?:a|b)"],
    ...[
      "(ab)",
      "a*",
      "b+?",
      "[ab]{1,2}",
      "(?:a+)+",
      "(?:|a)",
      "^",
      "$",
      "|",
      "\\b",
      "(?=a)",
      "(?!b)",
    ],
  ];
  const letters = ["a", "b", "1", " ", "\n", "\u00a0", "-"];
  let compared = 0;
  for (let count = 0; count < 3_000; count++) {
    const pattern = pick(["", "^"]) + Array.from({ length: 4 }, () => pick(parts)).join("");
    const text = Array.from({ length: 5 }, () => pick(letters)).join("");
    let expected: RegExp;
    try {
      expected = new RegExp(pattern, "u");
    } catch {
      continue;
    }
    try {
      assert.equal(
        matches(pattern, text),
        expected.test(text),
        `${pattern} ${JSON.stringify(text)}`,
      );
      compared++;
    } catch (error) {
      assert.ok(!(error instanceof assert.AssertionError), String(error));
    }
  }
  assert.ok(compared > 1_000, `${compared} patterns were compared`);
});

Deno.test("a pattern is checked beside a long text, and in linear time", () => {
  const long: readonly (readonly [string, string])[] = [
    [EVIL, EVIL_TEXT],
    ["^(a|a)*$", EVIL_TEXT],
    ["^a*a*a*a*a*a*$", `${"a".repeat(50_000)}!`],
    [`${"^a?".padEnd(80, "a?")}a{40}$`, "a".repeat(30)],
    ["^[a-z]+$", `${"a".repeat(200_000)}!`],
    ["^[\\s\\S]*$", "a".repeat(500_000)],
    ["^[^@]+@[^@]+\\.[a-z]{2,}$", "a@".repeat(100_000)],
  ];
  for (const [pattern, text] of long) {
    const { value: { kind }, cpuMs } = timed(() => validateValue(text, { pattern }), MAX_CPU_MS);

    const isValid = text === "a".repeat(500_000);
    assert.equal(kind, isValid ? "valid" : "invalid", pattern);
    assert.ok(cpuMs <= MAX_CPU_MS, `${pattern}: ${cpuMs} ms`);
  }
  const [problem] = findArgumentProblems(withText({ pattern: EVIL }), { text: EVIL_TEXT });
  assert.equal(problem?.path, "$.text");
  assert.equal(validateValue("aaa", { pattern: EVIL }).kind, "valid");
});

Deno.test("a pattern that takes too long is refused, and never passes", () => {
  const half = Array.from({ length: 1_000_000 }, (_, place) => "ab"[place * place % 7 % 2]).join(
    "",
  );
  const values: readonly (readonly [JsonObject, JsonValue])[] = [
    [{ pattern: "(a|b)*a(a|b){500}$" }, half],
    [{ items: { pattern: "a+b" } }, Array.from({ length: 20_000 }, () => `${"a".repeat(499)}b`)],
    [{ patternProperties: { "(a|b)*a(a|b){500}$": false } }, { [half.slice(0, 60_000)]: 1 }],
    [{ not: { pattern: "(a|b)*a(a|b){500}$" } }, half],
  ];
  for (const [schema, value] of values) {
    const { value: { kind }, cpuMs } = timed(() => validateValue(value, schema), MAX_CPU_MS);

    assert.equal(kind, "undecided", JSON.stringify(schema));
    assert.ok(cpuMs <= MAX_CPU_MS, `${JSON.stringify(schema)}: ${cpuMs} ms`);
  }
});

Deno.test("a schema with a pattern that cannot be checked is unusable, and says why", () => {
  const reasons: Readonly<Record<string, RegExp>> = {
    "a(?=b)": /lookahead/,
    "^(?=a)b|c": /alternatives/,
    "(?<!a)b": /lookbehind/,
    "^(a)\\1$": /backreference/,
    "^(?<x>a)\\k<x>$": /backreference/,
    "(": /unusable/,
    "a)": /unusable/,
    "(?:a{1,1000}){1,1000}": /repeats too much/,
    [`${"a{0,900}".repeat(100)}`]: /repeats too much/,
    ["(?i)" + "\\p{L}".repeat(500)]: /repeats too much|too many steps/,
    "^\\p{Unknown}$": /unusable/,
    "^\\p{Greek}$": /unusable/,
    [MANY_PROPERTIES.join("")]: /too many steps/,
    ["a?".repeat(40_000)]: /repeats too much|too many steps/,
  };
  for (const [pattern, reason] of Object.entries(reasons)) {
    for (
      const schema of [{ pattern }, { patternProperties: { [pattern]: true } }, {
        not: { pattern },
      }]
    ) {
      const { value: checked, cpuMs } = timed(
        () => validateValue({}, { properties: { a: schema } }),
        MAX_CPU_MS,
      );

      assert.ok(checked.kind === "undecided", pattern.slice(0, 60));
      assert.match(checked.reason, reason);
      assert.ok(cpuMs <= MAX_CPU_MS, `${pattern.slice(0, 60)}: ${cpuMs} ms`);
    }
  }
});

Deno.test("values that look like patterns are values", () => {
  const property = {
    properties: { not: { const: { pattern: "(" } }, pattern: { type: "string" } },
  };
  assert.equal(validateValue({ not: { pattern: "(" }, pattern: "x" }, property).kind, "valid");
  assert.equal(validateValue({ not: { pattern: "x" } }, property).kind, "invalid");
  const named = { patternProperties: { [EVIL]: {} }, additionalProperties: false };
  assert.equal(validateValue({ aaa: 1 }, named).kind, "valid");
  assert.equal(validateValue({ aaa: 1, [EVIL_TEXT]: 1 }, named).kind, "invalid");
});
