import type { JsonValue } from "../../../shared/platform/values/json.ts";

/** A page of tools as servers send it, and what of it has to be offered. */
export interface ListCase {
  readonly name: string;
  readonly tools: JsonValue;
  /** Names of the offered tools. */
  readonly kept: readonly string[];
  /** What is said about the rest, one pattern for each problem. */
  readonly said: readonly RegExp[];
}

const good = { name: "good", inputSchema: { type: "object" } };

function one(members: Readonly<Record<string, JsonValue>>): JsonValue {
  return [good, { name: "t", inputSchema: { type: "object" }, ...members }];
}

function argument(schema: JsonValue): JsonValue {
  return one({ inputSchema: { type: "object", properties: { a: schema }, required: ["a"] } });
}

const both = ["good", "t"];

/** Lists of tools that bend the protocol. */
export const LISTS: readonly ListCase[] = [
  {
    name: "null for every absent member",
    tools: one({
      title: null,
      description: null,
      annotations: null,
      outputSchema: null,
      icons: null,
      execution: null,
      _meta: null,
    }),
    kept: both,
    said: [],
  },
  {
    name: "properties and required null",
    tools: one({ inputSchema: { type: "object", properties: null, required: null } }),
    kept: both,
    said: [],
  },
  {
    name: "properties as an empty list",
    tools: one({ inputSchema: { type: "object", properties: [], required: {} } }),
    kept: both,
    said: [/required/],
  },
  {
    name: "required as a text",
    tools: one({ inputSchema: { type: "object", properties: { a: {} }, required: "a" } }),
    kept: both,
    said: [],
  },
  {
    name: "required on a property",
    tools: argument({ type: "string", required: true }),
    kept: both,
    said: [/inputSchema.properties.a.required is true/],
  },
  { name: "no schema", tools: [good, { name: "t" }], kept: both, said: [] },
  { name: "a schema that is null", tools: one({ inputSchema: null }), kept: both, said: [] },
  { name: "a schema that is an empty list", tools: one({ inputSchema: [] }), kept: both, said: [] },
  {
    name: "a schema without a type",
    tools: one({ inputSchema: { properties: {} } }),
    kept: both,
    said: [],
  },
  {
    name: "a schema of an object or null",
    tools: one({ inputSchema: { type: ["object", "null"] } }),
    kept: both,
    said: [],
  },
  {
    name: "a schema of a text",
    tools: one({ inputSchema: { type: "string" } }),
    kept: ["good"],
    said: [/must have the type "object", not 'string'/],
  },
  {
    name: "a schema that is a text",
    tools: one({ inputSchema: "none" }),
    kept: ["good"],
    said: [/inputSchema is 'none'/],
  },
  {
    name: "null in the schema of an argument",
    tools: argument({
      type: "string",
      description: null,
      format: null,
      enum: null,
      pattern: null,
      items: null,
      minLength: null,
      anyOf: null,
      $ref: null,
      default: null,
    }),
    kept: both,
    said: [],
  },
  {
    name: "a reference to a name of every object",
    tools: argument({ $ref: "#/properties/constructor" }),
    kept: both,
    said: [/\$ref is '#\/properties\/constructor', which does not exist/],
  },
  {
    name: "keywords and arguments with names of every object",
    tools: argument({
      type: "object",
      properties: { ["__proto__"]: { type: "string" }, constructor: { type: "string" } },
      constructor: 1,
    }),
    kept: both,
    said: [],
  },
  {
    name: "a type that does not exist",
    tools: argument({ type: "any" }),
    kept: both,
    said: [/properties.a.type is 'any'/],
  },
  { name: "a type in capitals", tools: argument({ type: "STRING" }), kept: both, said: [] },
  { name: "an argument that is null", tools: argument(null), kept: both, said: [] },
  {
    name: "an argument that is a text",
    tools: argument("string"),
    kept: both,
    said: [/properties.a is 'string'/],
  },
  {
    name: "enum and anyOf empty",
    tools: argument({ enum: [], anyOf: [] }),
    kept: both,
    said: [/enum/, /anyOf/],
  },
  {
    name: "limits as texts",
    tools: argument({ type: "integer", minimum: "1", maximum: "9" }),
    kept: both,
    said: [/minimum is '1'/, /maximum is '9'/],
  },
  {
    name: "a description that is a number",
    tools: one({ description: 5, title: 6 }),
    kept: both,
    said: [/description is 5/, /title is 6/],
  },
  {
    name: "annotations that are a text",
    tools: one({ annotations: "none" }),
    kept: both,
    said: [/annotations is 'none'/],
  },
  {
    name: "hints that are texts",
    tools: one({ annotations: { readOnlyHint: "true" } }),
    kept: both,
    said: [/annotations.readOnlyHint is 'true'/],
  },
  {
    name: "an output schema that is a text",
    tools: one({ outputSchema: "none" }),
    kept: both,
    said: [/outputSchema is 'none'/],
  },
  {
    name: "icons without an address",
    tools: one({ icons: [{ mimeType: "image/png" }] }),
    kept: both,
    said: [/icons\[0\]/],
  },
  {
    name: "a tool without a name",
    tools: [{ inputSchema: { type: "object" } }, good],
    kept: ["good"],
    said: [/\(without a name\): name is null/],
  },
  { name: "a tool that is a text", tools: ["t", good], kept: ["good"], said: [/it is 't'/] },
  { name: "a tool that is null", tools: [null, good], kept: ["good"], said: [] },
  { name: "the same tool twice", tools: [good, good], kept: ["good"], said: [] },
  {
    name: "two tools of one name",
    tools: [good, { ...good, description: "another" }],
    kept: ["good"],
    said: [/listed again with another definition/],
  },
  { name: "a list that is null", tools: null, kept: [], said: [] },
  { name: "a list that is a text", tools: "none", kept: [], said: [/tools is 'none'/] },
];
