import type { JsonObject } from "../../../shared/platform/values/json.ts";

/** A schema of some server, with arguments that it accepts and arguments that it refuses. */
export interface NastySchema {
  readonly what: string;
  readonly schema: JsonObject;
  readonly valid: readonly JsonObject[];
  readonly invalid?: readonly JsonObject[];
}

const text = { type: "string" } as const;

/** Schemas that break naive conversions. */
export const NASTY_SCHEMAS: readonly NastySchema[] = [
  { what: "an empty schema", schema: {}, valid: [{}, { any: 1 }] },
  { what: "no type", schema: { properties: { q: text } }, valid: [{ q: "x" }, {}] },
  {
    what: "no arguments",
    schema: { type: "object", properties: {} },
    valid: [{}],
  },
  {
    what: "a page query with a map of filters",
    schema: {
      type: "object",
      properties: {
        database_id: { type: "string", format: "uuid" },
        filter: {
          type: "object",
          additionalProperties: { type: "object", additionalProperties: true },
        },
        page_size: { type: "integer", minimum: 1, maximum: 100, default: 100 },
      },
      required: ["database_id"],
    },
    valid: [{
      database_id: "0d2bb2c8-6ba4-4e0f-a5ec-0a0e0a3f9b11",
      filter: { Status: { equals: "done" } },
    }],
    invalid: [{ database_id: "0d2bb2c8-6ba4-4e0f-a5ec-0a0e0a3f9b11", filter: { Status: "done" } }],
  },
  {
    what: "a tree that contains itself",
    schema: {
      type: "object",
      properties: { block: { $ref: "#/$defs/block" } },
      required: ["block"],
      $defs: {
        block: {
          type: "object",
          properties: {
            kind: { enum: ["text", "list"] },
            children: { type: "array", items: { $ref: "#/$defs/block" } },
          },
          required: ["kind"],
        },
      },
    },
    valid: [{ block: { kind: "list", children: [{ kind: "text" }] } }],
    invalid: [{ block: { kind: "list", children: [{ kind: "picture" }] } }],
  },
  {
    what: "a reference to the root",
    schema: {
      type: "object",
      properties: { and: { type: "array", items: { $ref: "#" } }, term: text },
    },
    valid: [{ and: [{ term: "a" }, { and: [{ term: "b" }] }] }],
    invalid: [{ and: [{ term: 1 }] }],
  },
  {
    what: "two definitions that contain each other",
    schema: {
      type: "object",
      properties: { a: { $ref: "#/definitions/a" } },
      definitions: {
        a: { type: "object", properties: { b: { $ref: "#/definitions/b" } } },
        b: { type: "object", properties: { a: { $ref: "#/definitions/a" } } },
      },
    },
    valid: [{ a: { b: { a: {} } } }],
  },
  {
    what: "a choice at the root",
    schema: {
      type: "object",
      properties: { id: text, slug: text },
      anyOf: [{ required: ["id"] }, { required: ["slug"] }],
    },
    valid: [{ id: "1" }, { slug: "s", id: "1" }],
    invalid: [{}],
  },
  {
    what: "a discriminated union at the root",
    schema: {
      oneOf: [
        {
          type: "object",
          properties: { action: { const: "create" }, title: text },
          required: ["action", "title"],
          additionalProperties: false,
        },
        {
          type: "object",
          properties: { action: { const: "close" }, number: { type: "integer" } },
          required: ["action", "number"],
          additionalProperties: false,
        },
      ],
    },
    valid: [{ action: "create", title: "t" }, { action: "close", number: 4 }],
    invalid: [{ action: "close", title: "t" }],
  },
  {
    what: "an allOf at the root",
    schema: {
      allOf: [
        { type: "object", properties: { owner: text }, required: ["owner"] },
        { $ref: "#/$defs/paged" },
      ],
      $defs: { paged: { type: "object", properties: { page: { type: "integer" } } } },
    },
    valid: [{ owner: "o", page: 2 }],
    invalid: [{ page: 2 }],
  },
  {
    what: "a condition at the root",
    schema: {
      type: "object",
      properties: { country: text },
      if: { properties: { country: { const: "US" } }, required: ["country"] },
      then: { properties: { zip: { type: "string", pattern: "^\\d{5}$" } }, required: ["zip"] },
    },
    valid: [{ country: "DE" }, { country: "US", zip: "12345" }],
    invalid: [{ country: "US" }],
  },
  {
    what: "a nested union with a discriminator",
    schema: {
      type: "object",
      properties: {
        parent: {
          oneOf: [
            {
              type: "object",
              properties: { type: { const: "page" }, page_id: text, note: text },
              required: ["type", "page_id"],
            },
            {
              type: "object",
              properties: { type: { const: "workspace" }, open: { type: ["boolean", "null"] } },
              required: ["type"],
            },
          ],
        },
      },
      required: ["parent"],
    },
    valid: [{ parent: { type: "page", page_id: "p" } }, {
      parent: { type: "workspace", open: null },
    }],
    invalid: [{ parent: { type: "page" } }],
  },
  {
    what: "alternatives that overlap",
    schema: {
      type: "object",
      properties: { value: { oneOf: [{ type: "number" }, { type: "integer", minimum: 5 }] } },
    },
    valid: [{ value: 1.5 }, { value: 3 }],
    invalid: [{ value: 7 }],
  },
  {
    what: "required arguments beside a nested choice",
    schema: {
      type: "object",
      properties: {
        target: {
          type: "object",
          properties: { user: text, channel: text },
          anyOf: [{ required: ["user"] }, { required: ["channel"] }],
        },
      },
    },
    valid: [{ target: { user: "u" } }, { target: { channel: "c", user: "u" } }],
    invalid: [{ target: {} }],
  },
  {
    what: "a tuple of an earlier draft",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        point: { type: "array", items: [{ type: "number" }, text], additionalItems: false },
      },
    },
    valid: [{ point: [1, "n"] }],
    invalid: [{ point: ["n", 1] }],
  },
  {
    what: "a tuple with a rest",
    schema: {
      type: "object",
      properties: {
        row: { type: "array", prefixItems: [text, { type: "object" }], items: { type: "integer" } },
      },
    },
    valid: [{ row: ["a", {}, 1, 2] }],
    invalid: [{ row: ["a", {}, "b"] }],
  },
  {
    what: "bounds and an id of draft 4",
    schema: {
      $schema: "http://json-schema.org/draft-04/schema#",
      id: "https://example.com/tool",
      type: "object",
      properties: { n: { type: "integer", minimum: 0, exclusiveMinimum: true } },
    },
    valid: [{ n: 1 }],
    invalid: [{ n: 0 }],
  },
  {
    what: "property names that no provider accepts",
    schema: {
      type: "object",
      properties: {
        "filter[name]": text,
        "filter{name}": { type: "integer" },
        filter_name: { type: "boolean" },
        "größe": { type: "number" },
        "名前": text,
        "": text,
        "$select": text,
        "1st": text,
        "x.y-z": text,
        "constructor": text,
        [`${"long".repeat(20)}`]: text,
      },
      required: ["filter[name]", "名前"],
      additionalProperties: false,
    },
    valid: [
      { "filter[name]": "a", "名前": "b", filter_name: true, "filter{name}": 1, "größe": 1.5 },
      { "filter[name]": "a", "名前": "b", "": "c", "$select": "d", "1st": "e", "x.y-z": "f" },
      { "filter[name]": "a", "名前": "b", constructor: "c", ["long".repeat(20)]: "d" },
    ],
    invalid: [{ "filter[name]": "a", "名前": 1 }],
  },
  {
    what: "bad names inside a union inside a list",
    schema: {
      type: "object",
      properties: {
        rules: {
          type: "array",
          items: {
            anyOf: [
              {
                type: "object",
                properties: { kind: { const: "a" }, "a b": text },
                required: ["kind"],
              },
              {
                type: "object",
                properties: { kind: { const: "b" }, "a:b": { type: "integer" } },
                required: ["kind"],
              },
            ],
          },
        },
      },
    },
    valid: [{ rules: [{ kind: "a", "a b": "x" }, { kind: "b", "a:b": 1 }] }],
    invalid: [{ rules: [{ kind: "b", "a:b": "x" }] }],
  },
  {
    what: "a huge list of values",
    schema: {
      type: "object",
      properties: {
        zone: { type: "string", enum: Array.from({ length: 2_000 }, (_, n) => `Region/City_${n}`) },
      },
      required: ["zone"],
    },
    valid: [{ zone: "Region/City_7" }],
    invalid: [{ zone: "Nowhere" }],
  },
  {
    what: "values of several types",
    schema: {
      type: "object",
      properties: {
        level: { enum: ["low", 1, true, null] },
        flag: { const: false },
        id: { type: ["string", "integer"], minLength: 2, minimum: 10 },
        maybe: { type: ["string", "null"], enum: ["a", null] },
      },
    },
    valid: [{ level: null, flag: false, id: 12, maybe: null }, { level: 1, id: "ab" }],
    invalid: [{ id: "a" }, { id: 9 }, { flag: true }],
  },
  {
    what: "anything goes",
    schema: {
      type: "object",
      properties: { payload: {}, list: { type: "array" }, yes: true, no: false },
      required: ["payload"],
    },
    valid: [{ payload: { deep: [null] }, list: [1, "a"], yes: null }],
    invalid: [{ payload: 1, no: 1 }],
  },
  {
    what: "wrappers of one, as generators write them",
    schema: {
      title: "Arguments",
      type: "object",
      properties: {
        order: {
          allOf: [{ $ref: "#/$defs/Order" }],
          default: "asc",
          description: "Which way.",
          title: "Order",
        },
        limit: { anyOf: [{ type: "integer" }, { type: "null" }], default: null, title: "Limit" },
      },
      $defs: { Order: { type: "string", enum: ["asc", "desc"], title: "Order" } },
    },
    valid: [{ order: "asc", limit: null }, { limit: 3 }],
    invalid: [{ order: "up" }],
  },
  {
    what: "anchors, embedded addresses and pointers into lists",
    schema: {
      $id: "https://example.com/root.json",
      type: "object",
      properties: {
        a: { $ref: "#named" },
        b: { $ref: "part.json" },
        c: { $ref: "https://example.com/root.json#/$defs/list/anyOf/1" },
        d: { $ref: "#/$defs/with%20space~1slash" },
      },
      $defs: {
        named: { $anchor: "named", type: "integer" },
        part: {
          $id: "part.json",
          type: "object",
          properties: { x: { $ref: "#/$defs/x" } },
          $defs: { x: text },
        },
        list: { anyOf: [text, { type: "boolean" }] },
        "with space/slash": { type: "number" },
      },
    },
    valid: [{ a: 1, b: { x: "s" }, c: true, d: 1.5 }],
    invalid: [{ a: "1" }, { c: "s" }],
  },
  {
    what: "keywords with meaningless values",
    schema: {
      type: "object",
      properties: {
        a: { type: "any", required: true, nullable: true, example: 1, "x-order": 3 },
        b: { type: "string", pattern: "(unclosed" },
      },
      required: [],
    },
    valid: [{ a: 1 }],
  },
  {
    what: "rules between arguments",
    schema: {
      type: "object",
      properties: {
        card: text,
        address: text,
        tags: { type: "array", items: text, uniqueItems: true },
      },
      dependentRequired: { card: ["address"] },
      propertyNames: { pattern: "^[a-z]+$" },
      minProperties: 1,
      not: { required: ["forbidden"] },
    },
    valid: [{ card: "c", address: "a" }, { tags: ["x"] }],
    invalid: [{ card: "c" }, {}, { tags: ["x", "x"] }],
  },
  {
    what: "headers by pattern",
    schema: {
      type: "object",
      properties: {
        headers: {
          type: "object",
          patternProperties: { "^X-": text },
          additionalProperties: false,
        },
      },
    },
    valid: [{ headers: { "X-Id": "1" } }],
    invalid: [{ headers: { Id: "1" } }],
  },
  {
    what: "a closed allOf that matches nothing",
    schema: {
      type: "object",
      properties: {
        item: {
          allOf: [
            { type: "object", properties: { a: text }, additionalProperties: false },
            { type: "object", properties: { b: text } },
          ],
        },
      },
    },
    valid: [{ item: { a: "x" } }],
    invalid: [{ item: { b: "x" } }],
  },
  {
    what: "an allOf closed from outside",
    schema: {
      type: "object",
      allOf: [{ properties: { a: text }, required: ["a"] }, { properties: { b: text } }],
      unevaluatedProperties: false,
    },
    valid: [{ a: "x", b: "y" }],
    invalid: [{ a: "x", c: "y" }],
  },
  {
    what: "required without a description",
    schema: { type: "object", properties: { a: text }, required: ["a", "b"] },
    valid: [{ a: "x", b: [1] }],
    invalid: [{ a: "x" }],
  },
];
