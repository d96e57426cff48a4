import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import type { Arbitrary, loadFastCheck } from "../../deps.ts";

type FastCheck = Awaited<ReturnType<typeof loadFastCheck>>["default"];

const NAMES = ["id", "kind", "a b", "a_b", "filter[x]", "größe", "1st", "$top", "x.y"] as const;

/**
 * Arbitrary tool schemas: a root object over nested schemas. Half of them are tame: a
 * strict mode can express them.
 */
export function randomSchema(fc: FastCheck): Arbitrary<JsonObject> {
  return fc.oneof(tameSchema(fc), wildSchema(fc));
}

function tameSchema(fc: FastCheck): Arbitrary<JsonObject> {
  const { node } = fc.letrec<{ node: JsonObject }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      { weight: 3, arbitrary: scalar(fc) },
      { weight: 2, arbitrary: objectOf(fc, tie("node"), [undefined, false]) },
      { weight: 1, arbitrary: tie("node").map((items) => ({ type: "array", items })) },
      { weight: 1, arbitrary: fc.array(tie("node"), { minLength: 2, maxLength: 3 }).map(anyOf) },
    ),
  }));
  return objectOf(fc, node, [undefined, false]);
}

function anyOf(options: readonly JsonObject[]): JsonObject {
  return { anyOf: options };
}

function wildSchema(fc: FastCheck): Arbitrary<JsonObject> {
  const rests = [undefined, undefined, false, false, true, { type: "integer" }] as const;
  const { node, object } = fc.letrec<{ node: JsonObject; object: JsonObject }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      { weight: 4, arbitrary: scalar(fc) },
      { weight: 2, arbitrary: oddity(fc) },
      { weight: 5, arbitrary: tie("object") },
      { weight: 3, arbitrary: arrayOf(fc, tie("node")) },
      { weight: 2, arbitrary: combinator(fc, tie("node")) },
    ),
    object: fc.oneof(
      { weight: 4, arbitrary: objectOf(fc, tie("node"), rests) },
      {
        weight: 1,
        arbitrary: fc.tuple(objectOf(fc, tie("node"), rests), combinator(fc, tie("object")))
          .map(([own, rule]) => ({ ...own, ...rule })),
      },
    ),
  }));
  return fc.tuple(object, scalar(fc), node).map(([root, leaf, own]) => ({
    ...root,
    $defs: {
      leaf,
      node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, own } },
    },
  }));
}

function scalar(fc: FastCheck): Arbitrary<JsonObject> {
  const rare = <T>(value: T) => fc.option(fc.constant(value), { nil: undefined, freq: 5 });
  return fc.oneof(
    fc.record({
      type: fc.constant("string"),
      minLength: rare(1),
      format: rare("uri"),
      default: rare("x"),
      description: rare("Größe"),
    }).map(toSchema),
    fc.record({
      type: fc.constantFrom("integer", "number"),
      minimum: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
      exclusiveMaximum: fc.option(fc.integer({ min: 5, max: 9 }), { nil: undefined }),
    }).map(toSchema),
    fc.constantFrom<JsonObject>(
      { type: "boolean" },
      { enum: ["a", "b"] },
      { enum: ["a", 1, null] },
      { enum: [1, 1.5] },
      { const: "a" },
      { const: true },
      { const: null },
      { type: ["string", "null"] },
      { type: ["string", "integer"], minimum: 3 },
    ),
  );
}

function oddity(fc: FastCheck): Arbitrary<JsonObject> {
  return fc.constantFrom<JsonObject>(
    {},
    { type: ["object", "null"], properties: { id: { type: "string" } } },
    { $ref: "#/$defs/leaf" },
    { $ref: "#/$defs/node", description: "one more" },
  );
}

function arrayOf(fc: FastCheck, inner: Arbitrary<JsonObject>): Arbitrary<JsonObject> {
  return fc.oneof(
    fc.record({
      type: fc.constant("array"),
      items: fc.option(inner, { nil: undefined, freq: 5 }),
      maxItems: fc.option(fc.constant(2), { nil: undefined }),
    }),
    fc.record({
      type: fc.constant("array"),
      prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
      items: fc.constantFrom<JsonValue | undefined>(false, undefined),
    }),
  ).map(toSchema);
}

function combinator(fc: FastCheck, inner: Arbitrary<JsonObject>): Arbitrary<JsonObject> {
  return fc.tuple(
    fc.constantFrom("anyOf", "oneOf", "allOf"),
    fc.array(inner, { minLength: 1, maxLength: 3 }),
  ).map(([keyword, options]): JsonObject => ({ [keyword]: options }));
}

function objectOf(
  fc: FastCheck,
  inner: Arbitrary<JsonObject>,
  rests: readonly (JsonValue | undefined)[],
): Arbitrary<JsonObject> {
  return fc.record({
    properties: fc.dictionary(fc.constantFrom(...NAMES), inner, { minKeys: 1, maxKeys: 4 }),
    required: fc.subarray([...NAMES], { maxLength: 3 }),
    isSloppy: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    additionalProperties: fc.constantFrom(...rests),
  }).map(({ properties, required, isSloppy, additionalProperties }) =>
    toSchema({
      type: "object",
      properties,
      // Some objects require members that they do not declare.
      required: required.filter((name) => isSloppy || Object.hasOwn(properties, name)),
      additionalProperties,
    })
  );
}

/** Without the keywords that were left undefined. */
function toSchema(parts: object): JsonObject {
  return JSON.parse(JSON.stringify(parts));
}
