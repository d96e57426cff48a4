import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../shared/platform/values/json.ts";

/** The violations of a provider's published rules in a function's parameters. */
export type ProviderRules = (parameters: JsonObject) => string[];

const OPENAI_ROOT_REFUSED = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"];
const STRICT_KEYWORDS = [
  "type title description enum const properties required additionalProperties items anyOf",
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems pattern format",
].join(" ").split(" ");
const STRICT_FORMATS = "date-time time date duration email hostname ipv4 ipv6 uuid".split(" ");
const GEMINI_KEYWORDS = [
  "type title description format enum items prefixItems minItems maxItems minimum maximum anyOf",
  "properties additionalProperties required",
].join(" ").split(" ");

/** Chat completions without strict mode. */
export const openAiRules: ProviderRules = (parameters: JsonObject): string[] => [
  ...objectRoot(parameters, OPENAI_ROOT_REFUSED),
  ...everySchema(parameters, (schema, path) => [
    ...names(schema, path, /^[a-zA-Z0-9_.-]{1,64}$/),
    ...typesOf(schema).includes("array") && !isJsonObject(schema.items)
      ? [`${path}: array schema missing items`]
      : [],
    ...noReferences(schema, path),
  ]),
];

/** Chat completions with `strict: true`. */
export const openAiStrictRules: ProviderRules = (parameters: JsonObject): string[] => [
  ...openAiRules(parameters),
  ...everySchema(parameters, (schema, path) => [
    ...unknown(schema, path, STRICT_KEYWORDS),
    ...strictObject(schema, path),
    ...typesOf(schema).length === 0 && !Array.isArray(schema.anyOf) ? [`${path}: no type`] : [],
    ...schema.format !== undefined && !STRICT_FORMATS.includes(String(schema.format))
      ? [`${path}: format ${schema.format}`]
      : [],
  ]),
];

function strictObject(schema: JsonObject, path: string): string[] {
  if (!typesOf(schema).includes("object")) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const declared = Object.keys(asJsonObject(schema.properties));
  const isAll = declared.every((name) => required.includes(name)) &&
    required.length === declared.length;
  return [
    ...schema.additionalProperties === false ? [] : [`${path}: additionalProperties is not false`],
    ...isAll ? [] : [`${path}: required does not name every property`],
  ];
}

/** Messages. */
export const anthropicRules: ProviderRules = (parameters: JsonObject): string[] => [
  ...objectRoot(parameters, ["anyOf", "oneOf", "allOf", "$ref"]),
  ...everySchema(parameters, (schema, path) => [
    ...names(schema, path, /^[a-zA-Z0-9_.-]{1,64}$/),
    ...noReferences(schema, path),
    ...Array.isArray(schema.items) ? [`${path}: items of an earlier draft`] : [],
    ...typeof schema.exclusiveMinimum === "boolean" ? [`${path}: bound of an earlier draft`] : [],
  ]),
];

/** generateContent with `parametersJsonSchema`. */
export const geminiRules: ProviderRules = (parameters: JsonObject): string[] => [
  ...objectRoot(parameters, ["anyOf"]),
  ...everySchema(parameters, (schema, path) => [
    ...names(schema, path, /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/),
    ...unknown(schema, path, GEMINI_KEYWORDS),
    ...typesOf(schema).filter((type) => type !== "null").length > 1 ? [`${path}: types`] : [],
    ...typesOf(schema).includes("array") && !isJsonObject(schema.items)
      ? [`${path}: items missing`]
      : [],
    ...requiredDeclared(schema, path),
    ...(Array.isArray(schema.enum) ? schema.enum : [])
      .filter((value: JsonValue) => typeof value !== "string" || value === "")
      .map((value: JsonValue) => `${path}: enum value ${JSON.stringify(value)}`),
  ]),
];

function requiredDeclared(schema: JsonObject, path: string): string[] {
  const declared = asJsonObject(schema.properties);
  const required: readonly JsonValue[] = Array.isArray(schema.required) ? schema.required : [];
  return required.filter((name) => !Object.hasOwn(declared, String(name)))
    .map((name) => `${path}: required ${name} is not defined`);
}

function objectRoot(schema: JsonObject, refused: readonly string[]): string[] {
  return [
    ...schema.type === "object" ? [] : ["root: no object"],
    ...isJsonObject(schema.properties) ? [] : ["root: no properties"],
    ...refused.filter((keyword) => schema[keyword] !== undefined).map((word) => `root: ${word}`),
  ];
}

function names(schema: JsonObject, path: string, legal: RegExp): string[] {
  return Object.keys(asJsonObject(schema.properties)).filter((name) => !legal.test(name))
    .map((name) => `${path}: property name ${JSON.stringify(name)}`);
}

function noReferences(schema: JsonObject, path: string): string[] {
  return ["$ref", "$defs", "definitions", "$dynamicRef", "$anchor"]
    .filter((keyword) => schema[keyword] !== undefined).map((keyword) => `${path}: ${keyword}`);
}

function unknown(schema: JsonObject, path: string, known: readonly string[]): string[] {
  return Object.keys(schema).filter((keyword) => !known.includes(keyword))
    .map((keyword) => `${path}: ${keyword}`);
}

function typesOf(schema: JsonObject): readonly JsonValue[] {
  if (Array.isArray(schema.type)) return schema.type;
  return schema.type === undefined ? [] : [schema.type];
}

const MAPS = ["properties", "patternProperties", "dependentSchemas"];
const DATA = ["enum", "const", "default", "examples", "required", "type"];

function everySchema(
  schema: JsonObject,
  check: (schema: JsonObject, path: string) => string[],
  path = "#",
): string[] {
  const inside = Object.entries(schema).flatMap(([keyword, value]) => {
    if (DATA.includes(keyword)) return [];
    const children = MAPS.includes(keyword)
      ? Object.entries(asJsonObject(value))
      : Array.isArray(value)
      ? value.map((item: JsonValue, index) => [String(index), item] as const)
      : [["", value] as const];
    return children.flatMap(([name, child]) =>
      isJsonObject(child) ? everySchema(child, check, `${path}/${keyword}/${name}`) : []
    );
  });
  return [...check(schema, path), ...inside];
}
