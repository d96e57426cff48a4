import assert from "node:assert/strict";
import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import {
  type ConvertibleTool,
  type FunctionDefinition,
  type FunctionTarget,
  toFunctionDefinition,
} from "./function_definition.ts";

function convert(
  inputSchema: JsonObject,
  target: FunctionTarget = "openai",
  parts: Partial<ConvertibleTool> = {},
): FunctionDefinition {
  const tool = { name: "tool", description: "A tool.", inputSchema, ...parts };
  return toFunctionDefinition(tool, target);
}

function property(definition: FunctionDefinition, name: string): JsonObject {
  return asJsonObject(asJsonObject(definition.parameters.properties)[name]);
}

Deno.test("an empty schema accepts any arguments, and a schema without properties accepts none", () => {
  const any = convert({});
  const none = convert({ type: "object", properties: {} });

  assert.deepEqual([any.isStrict, any.parameters], [false, { type: "object", properties: {} }]);
  assert.deepEqual([none.isStrict, none.parameters], [true, {
    type: "object",
    properties: {},
    required: [],
    additionalProperties: false,
  }]);
});

Deno.test("the report explains why and where a tool is not strict", () => {
  const { isStrict, losses, parameters } = convert({
    type: "object",
    properties: { labels: { type: "object", additionalProperties: { type: "string" } } },
  });

  assert.equal(isStrict, false);
  assert.deepEqual(losses, [
    { path: "$.labels", keyword: "additionalProperties", action: "not_strict" },
  ]);
  assert.deepEqual(asJsonObject(parameters.properties).labels, {
    type: "object",
    additionalProperties: { type: "string" },
  });
});

Deno.test("rules that strict mode cannot enforce are in the description and in the report", () => {
  const definition = convert({
    type: "object",
    properties: {
      url: {
        type: "string",
        format: "uri",
        minLength: 8,
        default: "https://a.b",
        description: "Where.",
      },
    },
  });

  assert.deepEqual(property(definition, "url"), {
    description: 'Where. Must match: format "uri"; minLength 8. Default: "https://a.b".',
    type: ["string", "null"],
  });
  assert.deepEqual(definition.losses.map(({ path, keyword }) => [path, keyword]), [
    ["$.url", "format"],
    ["$.url", "minLength"],
    ["$.url", "default"],
  ]);
});

Deno.test("a null that the tool accepts is kept, one that means absent is removed", () => {
  const { toOriginal } = convert({
    type: "object",
    properties: {
      assignee: { type: ["string", "null"] },
      title: { type: "string" },
      any: {},
      nested: { type: "object", properties: { a: { type: "integer" } } },
      items: { type: "array", items: { type: ["integer", "null"] } },
    },
  });

  const args = { assignee: null, title: null, any: null, nested: { a: null }, items: [null, 1] };
  assert.deepEqual(toOriginal(args), { assignee: null, any: null, nested: {}, items: [null, 1] });
});

Deno.test("a null in place of a required argument is kept for validation to refuse", () => {
  const { toOriginal } = convert({
    type: "object",
    properties: { title: { type: "string" } },
    required: ["title"],
  });

  assert.deepEqual(toOriginal({ title: null }), { title: null });
});

Deno.test("nulls are resolved by the union option that the value matches", () => {
  const definition = convert({
    type: "object",
    properties: {
      by: {
        oneOf: [
          {
            type: "object",
            properties: { kind: { const: "user" }, name: { type: "string" } },
            required: ["kind"],
          },
          {
            type: "object",
            properties: { kind: { const: "bot" }, name: { type: ["string", "null"] } },
            required: ["kind"],
          },
        ],
      },
    },
    required: ["by"],
  });

  assert.equal(definition.isStrict, true);
  const [user, bot] = ["user", "bot"].map((kind) =>
    definition.toOriginal({ by: { kind, name: null } })
  );
  assert.deepEqual(user, { by: { kind: "user" } });
  assert.deepEqual(bot, { by: { kind: "bot", name: null } });
});

Deno.test("names that would collide stay distinct", () => {
  const definition = convert({
    type: "object",
    properties: {
      "a b": { type: "string" },
      "a?b": { type: "string" },
      a_b: { type: "string" },
    },
    additionalProperties: false,
  }, "gemini");

  const names = Object.keys(asJsonObject(definition.parameters.properties));
  assert.equal(new Set(names).size, 3);
  const provided = Object.fromEntries(names.map((name) => [name, name]));
  const original = definition.toOriginal(provided);
  assert.deepEqual(Object.keys(original).sort(), ["a b", "a?b", "a_b"]);
  assert.deepEqual(definition.toProvided(original), provided);
});

Deno.test("gemini gets lists of texts only: whole numbers in a row are bounds, other lists are described", () => {
  const lists: Readonly<Record<string, readonly JsonValue[]>> = {
    texts: ["a", "b"],
    row: [3, 1, 2],
    one: [7],
    gap: [0, 2],
    fractions: [0.5, 1.5],
    empty: ["", "a"],
  };
  const properties = Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, { enum: list }]),
  );

  const sent = asJsonObject(
    convert({ type: "object", properties }, "gemini").parameters.properties,
  );

  assert.deepEqual(sent.texts, { type: "string", enum: ["a", "b"] });
  assert.deepEqual(sent.row, { type: "integer", minimum: 1, maximum: 3 });
  assert.deepEqual(sent.one, { type: "integer", minimum: 7, maximum: 7 });
  for (const name of ["gap", "fractions", "empty"]) {
    const { enum: list, description } = asJsonObject(sent[name]);
    assert.equal(list, undefined);
    assert.match(String(description), /Must match: enum/);
  }
});

Deno.test("a schema above the limits of strict mode is sent without it", () => {
  const values = Array.from({ length: 1_001 }, (_, number) => `v${number}`);
  const deep = Array.from({ length: 12 }).reduce<JsonObject>(
    (inner) => ({ type: "object", properties: { a: inner } }),
    { type: "string" },
  );

  assert.equal(convert({ type: "object", properties: { e: { enum: values } } }).isStrict, false);
  assert.equal(convert(deep).isStrict, false);
});

Deno.test("a list of values that is too long is described by its first values", () => {
  const values = Array.from({ length: 5_000 }, (_, number) => `value ${number}`);
  const definition = convert({ type: "object", properties: { e: { enum: values } } }, "anthropic");

  const { type, examples, title } = property(definition, "e");
  assert.equal(type, "string");
  assert.equal(Array.isArray(examples) && examples.length, 20);
  assert.match(String(title), /One of 5000 values/);
  assert.deepEqual(definition.losses, [{ path: "$.e", keyword: "enum", action: "described" }]);
});

const bomb = Object.fromEntries(
  Array.from({ length: 30 }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { type: "object", properties: { a: next, b: next } }];
  }),
);
const REFUSED: Record<string, { schema: JsonObject; reason: RegExp }> = {
  "a remote reference": {
    schema: { properties: { a: { $ref: "https://example.com/a.json" } } },
    reason: /outside itself/,
  },
  "a reference to a file": {
    schema: { properties: { a: { $ref: "file:///etc/passwd" } } },
    reason: /outside itself/,
  },
  "a dangling reference": {
    schema: { properties: { a: { $ref: "#/$defs/none" } } },
    reason: /does not exist/,
  },
  "a reference to an inherited property": {
    schema: { properties: { a: { $ref: "#/constructor" } } },
    reason: /does not exist/,
  },
  "deep nesting": {
    schema: Array.from({ length: 60 }).reduce<JsonObject>(
      (inner) => ({ type: "array", items: inner }),
      {},
    ),
    reason: /nested deeper/,
  },
  "references that double at each level": {
    schema: { $ref: "#/$defs/d0", $defs: { ...bomb, d30: { type: "string" } } },
    reason: /more than 10000 schemas|nested deeper/,
  },
  "a root that is not an object": {
    schema: { type: "array", items: {} },
    reason: /array instead of an object/,
  },
  "too much text": {
    schema: { type: "object", properties: { a: { description: "x".repeat(100_001) } } },
    reason: /larger than/,
  },
};

for (const [what, { schema, reason }] of Object.entries(REFUSED)) {
  Deno.test(`${what} is refused with a reason`, () => {
    assert.throws(() => convert(schema), (error) => {
      assert.ok(error instanceof SwarmError);
      assert.equal(error.code, "TOOL_CONFIG_INVALID");
      assert.match(error.message, reason);
      return true;
    });
  });
}
