import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import type { Json, JsonSchema } from "../../../client/mod.ts";
import { NASTY_SCHEMAS } from "../../../tests/models/tool_schemas/nasty_schemas.ts";
import { randomSchema } from "../../../tests/models/tool_schemas/random_schema.ts";
import { createRandom, sampleValue } from "../../../tests/models/tool_schemas/sample_value.ts";
import { valueProblems } from "./check_value.ts";
import { enterValue, openForm, same, Unsayable } from "../testing/form_robot.ts";

const SAMPLES = 2;
/** The test DOM takes minutes for thousands of options, which browsers show immediately. */
const MAX_SCHEMA_CHARACTERS = 20_000;

/** A validator other than the form's; null for a schema that it cannot compile. */
function ajvOf(schema: JsonSchema): ((value: Json) => boolean) | null {
  const ajv = new Ajv2020({ strict: false, validateFormats: true, logger: false });
  addFormats.default(ajv);
  try {
    const validate = ajv.compile(schema as object);
    return (value) => validate(value) as boolean;
  } catch {
    return null;
  }
}

const OF_FORMAT: Readonly<Record<string, string>> = {
  uuid: "0d2bb2c8-6ba4-4e0f-a5ec-0a0e0a3f9b11",
  date: "2026-11-22",
  "date-time": "2026-11-22T10:00:00Z",
  email: "ada@example.com",
  uri: "https://example.com/a",
};

/** The schema with one text per format, because random text matches none. */
function withFormats<Part>(part: Part): Part {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map(withFormats) as Part;
  const members = Object.entries(part).map(([name, member]) => [name, withFormats(member)]);
  const { format } = part as { format?: unknown };
  const text = typeof format === "string" ? OF_FORMAT[format] : undefined;
  return Object.fromEntries([...members, ...text === undefined ? [] : [["enum", [text]]]]);
}

/** Valid values of a schema, in the order of their seeds. */
function samplesOf(schema: JsonSchema, isValid: (value: Json) => boolean): Json[] {
  const samples: Json[] = [];
  const sampled = withFormats(schema);
  for (let seed = 1; seed < 200 && samples.length < SAMPLES; seed++) {
    const value = sampleValue(sampled as never, sampled as never, createRandom(seed)) as Json;
    if (isValid(value) && !samples.some((one) => same(one, value))) samples.push(value);
  }
  return samples;
}

/** Switching between both tabs does not change a value. */
async function assertSurvives(schema: JsonSchema, value: Json): Promise<void> {
  const { form, value: now } = openForm(schema, value);
  expect(now()).toEqual(value);
  const [formTab, jsonTab] = form.findAll('[role="tab"]');
  await jsonTab?.trigger("click");
  const area = form.find<HTMLTextAreaElement>("textarea");
  expect(JSON.parse(area.element.value)).toEqual(value);
  await formTab?.trigger("click");
  await jsonTab?.trigger("click");
  await form.find("textarea").setValue(JSON.stringify({ other: 1 }));
  await form.find("textarea").setValue(JSON.stringify(value));
  await formTab?.trigger("click");
  expect(now()).toEqual(value);
  form.unmount();
}

/** Enters the value with the form, otherwise as JSON; in both cases it must be valid. */
async function assertCanBeMade(schema: JsonSchema, value: Json): Promise<"form" | "json"> {
  const { form, value: now } = openForm(schema);
  try {
    await enterValue(form, value);
    if (containsAll(now(), value)) return "form";
  } catch (error) {
    if (!(error instanceof Unsayable)) throw error;
  }
  await form.findAll('[role="tab"]')[1]?.trigger("click");
  await form.find("textarea").setValue(JSON.stringify(value));
  expect(now()).toEqual(value);
  form.unmount();
  return "json";
}

/** The form may contain more: required values and values without a choice. */
function containsAll(whole: Json, part: Json): boolean {
  if (typeof part !== "object" || part === null || typeof whole !== "object" || whole === null) {
    return whole === part;
  }
  if (Array.isArray(part) !== Array.isArray(whole)) return false;
  if (Array.isArray(part)) {
    return part.length === (whole as Json[]).length &&
      part.every((item, index) => containsAll((whole as Json[])[index] ?? null, item));
  }
  return Object.entries(part).every(([name, member]) =>
    Object.hasOwn(whole, name) &&
    containsAll((whole as Record<string, Json>)[name] ?? null, member as Json)
  );
}

describe("every tool of this project", async () => {
  for (const [slug, load] of Object.entries(INTERNAL_SERVERS)) {
    for (const { definition } of (await load()).tools) {
      const schema = definition.inputSchema as JsonSchema;
      test(`${slug}.${definition.name} can be run with its form`, { timeout: 60_000 }, async () => {
        const isValid = ajvOf(schema);
        expect(isValid, "Ajv compiles the schema").not.toBeNull();
        const samples = samplesOf(schema, (value) => isValid?.(value) ?? false);
        expect(samples.length, "valid arguments exist").toBeGreaterThan(0);
        for (const sample of samples) {
          expect(valueProblems(schema, sample)).toEqual([]);
          await assertSurvives(schema, sample);
          await assertCanBeMade(schema, sample);
        }
      });
    }
  }
});

describe("schemas of external servers", () => {
  for (const { what, schema, valid, invalid = [] } of NASTY_SCHEMAS) {
    test(`${what}: valid arguments can be entered and are kept`, { timeout: 60_000 }, async () => {
      if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) {
        for (const value of valid as readonly Json[]) {
          expect(valueProblems(schema as JsonSchema, value)).toEqual([]);
        }
        return;
      }
      openForm(schema as JsonSchema).form.unmount();
      for (const value of valid as readonly Json[]) {
        await assertSurvives(schema as JsonSchema, value);
        await assertCanBeMade(schema as JsonSchema, value);
      }
      // The server validates schemas that Ajv cannot compile.
      if (ajvOf(schema as JsonSchema) === null) return;
      for (const value of valid as readonly Json[]) {
        expect(valueProblems(schema as JsonSchema, value), JSON.stringify(value)).toEqual([]);
      }
      for (const value of invalid as readonly Json[]) {
        expect(valueProblems(schema as JsonSchema, value), JSON.stringify(value)).not.toEqual([]);
      }
    });
  }
});

const CONSTRUCTS: Readonly<Record<string, JsonSchema>> = {
  "an empty schema": {},
  "anything": true,
  "nothing": false,
  "a boolean schema of a member": { type: "object", properties: { any: true, none: false } },
  "a constant at the root": { const: { a: [1, null] } },
  "a union at the root": {
    anyOf: [
      { type: "object", properties: { a: { type: "integer", multipleOf: 5 } }, required: ["a"] },
      { type: "object", properties: { b: { type: ["string", "null"] } }, required: ["b"] },
    ],
  },
  "a union beside members": {
    type: "object",
    properties: { kind: { type: "string" } },
    oneOf: [{ required: ["kind"] }, { properties: { n: { type: "number" } }, required: ["n"] }],
  },
  "a nullable choice": {
    type: "object",
    properties: { level: { type: ["string", "null"], enum: ["low", "high", null] } },
    required: ["level"],
  },
  "a tuple": {
    type: "object",
    properties: {
      at: { type: "array", prefixItems: [{ type: "number" }, { enum: ["N", "S"] }], items: false },
    },
    required: ["at"],
  },
  "names by pattern": {
    type: "object",
    patternProperties: { "^x-": { type: "integer" } },
    additionalProperties: false,
  },
  "members that need each other": {
    type: "object",
    properties: { card: { type: "string" }, address: { type: "string" } },
    dependentRequired: { card: ["address"] },
  },
  "parts that share a member": {
    allOf: [
      { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      { properties: { name: { minLength: 2 } } },
    ],
  },
  "a condition": {
    type: "object",
    properties: { kind: { enum: ["a", "b"] }, n: { type: "integer" } },
    if: { properties: { kind: { const: "a" } }, required: ["kind"] },
    then: { required: ["n"] },
  },
  "formats": {
    type: "object",
    properties: {
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time" },
      mail: { type: "string", format: "email" },
      page: { type: "string", format: "uri" },
    },
  },
  "a list of lists": {
    type: "object",
    properties: {
      grid: { type: "array", items: { type: "array", items: { type: "integer" }, minItems: 1 } },
    },
    required: ["grid"],
  },
  "names that objects inherit": {
    type: "object",
    properties: {
      constructor: { type: "string" },
      toString: { type: "object", properties: { valueOf: { type: "integer" } } },
    },
    required: ["constructor"],
  },
  "names with signs": {
    type: "object",
    properties: { "a/b": { type: "string" }, "c~d e": { type: "integer" }, 'f"g': { const: 1 } },
    required: ["a/b"],
  },
  "a tree of two branches that may end": {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        anyOf: [
          {
            type: "object",
            properties: { left: { $ref: "#/$defs/node" }, right: { $ref: "#/$defs/node" } },
            required: ["left", "right"],
          },
          { type: "integer" },
        ],
      },
    },
  },
};

describe("constructs", () => {
  for (const [what, schema] of Object.entries(CONSTRUCTS)) {
    test(`${what}: the form opens immediately, and valid values can be entered and are kept`, {
      timeout: 60_000,
    }, async () => {
      openForm(schema).form.unmount();
      const isValid = ajvOf(schema);
      if (isValid === null || schema === false) return;
      // Arguments are objects; a form without fields starts with an empty one.
      for (const sample of samplesOf(schema, isValid).filter((one) => one !== null)) {
        await assertSurvives(schema, sample);
        await assertCanBeMade(schema, sample);
      }
    });
  }

  for (
    const [what, schema] of Object.entries<JsonSchema>({
      "a schema that is all of itself": { allOf: [{ $ref: "#" }] },
      "two that refer to each other": {
        $ref: "#/$defs/a",
        $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
      },
      "a reference to nowhere": {
        type: "object",
        properties: { x: { $ref: "#/$defs/none" }, y: { $ref: "other.json#/z" } },
      },
      "a member that requires its own kind": {
        $ref: "#/$defs/node",
        $defs: {
          node: {
            type: "object",
            properties: { left: { $ref: "#/$defs/node" }, right: { $ref: "#/$defs/node" } },
            required: ["left", "right"],
          },
        },
      },
    })
  ) {
    test(`${what} terminates and accepts JSON`, async () => {
      const { form, value } = openForm(schema);
      await form.findAll('[role="tab"]')[1]?.trigger("click");
      await form.find("textarea").setValue('{"x": [1]}');
      expect(value()).toEqual({ x: [1] });
    });
  }
});

test("any schema: the form opens, and values that it finds valid are valid", async () => {
  await fc.assert(
    fc.asyncProperty(randomSchema(fc as never) as never, fc.integer(), async (given, seed) => {
      const schema = given as JsonSchema;
      const isValid = ajvOf(schema);
      fc.pre(isValid !== null);
      const value = sampleValue(schema as never, schema as never, createRandom(seed)) as Json;
      await assertSurvives(schema, value);
      // Ajv and the form's validator agree on valid arguments.
      expect(valueProblems(schema, value).length === 0).toBe(isValid?.(value));
    }),
    { numRuns: 40, seed: 17 },
  );
}, 60_000);
