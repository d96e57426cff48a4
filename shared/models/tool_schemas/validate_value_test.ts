import assert from "node:assert/strict";
import { timed } from "../../../scripts/test/cpu_time.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { fitsSchema } from "./fits_schema.ts";
import { validateValue } from "./validate_value.ts";

const MAX_CPU_MS = 250;

const many = (count: number, value: JsonValue) => Array.from({ length: count }, () => value);
const wide = (count: number, value: JsonValue): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`k${number}`, value]));
const at = (schema: JsonObject): JsonObject => ({ properties: { x: schema } });
const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));

Deno.test("an undecidable value does not pass, and takes bounded time", () => {
  const bomb: JsonObject = {
    $ref: "#/$defs/a",
    $defs: {
      a: { allOf: many(400, { $ref: "#/$defs/b" }) },
      b: { allOf: many(400, { pattern: "^a+$" }) },
    },
  };
  const worst: readonly (readonly [string, JsonObject, JsonValue])[] = [
    ["items that do not fit", at({ items: { type: "string" } }), { x: many(150_000, 1) }],
    ["items that fit", at({ items: { type: "string" } }), { x: many(150_000, "a") }],
    ["half a surrogate pair", { additionalProperties: {} }, { "\ud800": 1 }],
    ["names", at({ additionalProperties: false }), { x: wide(40_000, 1) }],
    ["names, several times", { anyOf: many(2_000, { required: ["a"] }) }, wide(30_000, 1)],
    ["references to references", bomb, "a".repeat(100_000)],
    ["a reference to itself", { $ref: "#" }, {}],
    ["repeated items", { uniqueItems: true }, [...Array(20_000).keys(), 19_999]],
    [
      "branches at each level",
      { $ref: "#/$defs/n", $defs: { n: { anyOf: many(5, { items: { $ref: "#/$defs/n" } }) } } },
      nested(190),
    ],
    ["a list for each item", { items: { enum: [...Array(20_000).keys()] } }, many(20_000, -1)],
    ["no schema of that name", { $ref: "#/$defs/nothing" }, {}],
  ];
  for (const [name, schema, value] of worst) {
    const { value: { kind }, cpuMs } = timed(() => validateValue(value, schema), MAX_CPU_MS);

    assert.notEqual(kind, "valid", name);
    assert.ok(cpuMs <= MAX_CPU_MS, `${name}: ${cpuMs} ms`);
    assert.ok(!fitsSchema(value, schema), name);
  }
});

Deno.test("format checks take linear time", () => {
  const texts = ["http://" + "a".repeat(60) + "!", "a@".repeat(50_000), "{".repeat(100_000)];
  for (const format of ["url", "uri", "email", "uri-template", "hostname", "regex", "ipv6"]) {
    for (const text of texts) {
      const { cpuMs } = timed(
        () => validateValue(text, { format, pattern: "^[a-z]" }),
        MAX_CPU_MS,
      );
      assert.ok(cpuMs <= MAX_CPU_MS, `${format} ${text.slice(0, 10)}: ${cpuMs} ms`);
    }
  }
});

Deno.test("large valid values are validated completely", () => {
  const row = { id: 1, name: "Ada", day: "2026-01-31", tags: ["a", "b"] };
  const rows = {
    type: "array",
    items: {
      type: "object",
      properties: {
        id: { type: "integer" },
        name: { type: "string", pattern: "^[A-Z][a-z]+$" },
        day: { type: "string", format: "date" },
        tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
      },
      required: ["id"],
      additionalProperties: false,
    },
  };
  const valid: readonly (readonly [JsonObject, JsonValue])[] = [
    [rows, many(3_000, row)],
    [{ items: { type: "number" } }, many(50_000, 1.5)],
    [{ additionalProperties: { type: "number" } }, wide(20_000, 1)],
    [{ uniqueItems: true }, [...Array(20_000).keys()]],
    [{ type: "string", minLength: 1_000_000 }, "a".repeat(1_000_000)],
    [{ additionalProperties: true, not: false, propertyNames: true }, { a: null }],
  ];
  for (const [schema, value] of valid) {
    assert.deepEqual(validateValue(value, schema), { kind: "valid" }, JSON.stringify(schema));
  }
  const broken = [...many(2_999, row), { ...row, day: "tomorrow" }];
  assert.equal(validateValue(broken, rows).kind, "invalid");
  assert.equal(validateValue([1, 2, 1], { uniqueItems: true }).kind, "invalid");
  assert.equal(validateValue([{ a: [1] }, { a: [1] }], { uniqueItems: true }).kind, "invalid");
  for (const distinct of [[["a"], "[0", [0]], [1, "1", true, "true", null, "null"], [[], {}]]) {
    assert.equal(validateValue(distinct, { uniqueItems: true }).kind, "valid");
  }
  assert.equal(validateValue(1, { not: true }).kind, "invalid");
});

Deno.test("a format error names the schema's format", () => {
  const checked = validateValue("none", { format: "uuid", pattern: '^"[0-9a-f]+"$' });

  assert.ok(checked.kind === "invalid");
  const messages = checked.errors.map(({ keyword, error }) => `${keyword}: ${error}`);
  assert.ok(messages.includes('format: String does not match format "uuid".'), messages.join());
});
