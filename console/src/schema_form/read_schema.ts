import type { Json, JsonSchema } from "../../../client/mod.ts";

type SchemaObject = { readonly [keyword: string]: unknown };

/** How a form shows a schema. */
export type FieldKind =
  | { readonly kind: "const"; readonly value: Json }
  | { readonly kind: "enum"; readonly values: readonly Json[] }
  | {
    readonly kind: "text";
    readonly isLong: boolean;
    readonly format: string | null;
    /** Values that the field offers; others are allowed too. */
    readonly examples: readonly string[];
  }
  | { readonly kind: "number"; readonly isInteger: boolean }
  | { readonly kind: "boolean" }
  | { readonly kind: "null" }
  | { readonly kind: "array"; readonly items: JsonSchema }
  | {
    readonly kind: "object";
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required: readonly string[];
    /** The schema for undeclared names; false if they are not allowed. */
    readonly others: JsonSchema;
  }
  | { readonly kind: "variants"; readonly variants: readonly JsonSchema[] }
  /** A schema without a field: it is edited as JSON. */
  | { readonly kind: "json" };

/** References and parts nested deeper than this are circular. */
const MAX_DEPTH = 32;
/** Text fields longer than this, or with a long description and no limit, get several lines. */
const LONG_TEXT = 200;

/** The resolved schema: references followed, `allOf` merged. */
export function resolveSchema(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  if (!isObject(schema)) return schema;
  if (depth > MAX_DEPTH) return {};
  if (typeof schema.$ref === "string") {
    const { $ref, ...siblings } = schema;
    const target = follow($ref as string, root);
    if (target === undefined) return {};
    const whole = Object.keys(siblings).length > 0 && isObject(target)
      ? { ...target, ...siblings }
      : target;
    return resolveSchema(whole, root, depth + 1);
  }
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...siblings } = schema;
  const parts = (allOf as JsonSchema[]).map((part) => resolveSchema(part, root, depth + 1));
  return resolveSchema(merged([...parts, siblings]), root, depth + 1);
}

export function fieldKind(given: JsonSchema, root: JsonSchema): FieldKind {
  const schema = resolveSchema(given, root);
  if (!isObject(schema)) return { kind: "json" };
  if ("const" in schema) return { kind: "const", value: schema.const as Json };
  if (Array.isArray(schema.enum)) return { kind: "enum", values: schema.enum as Json[] };
  const variants = variantsOf(schema);
  if (variants !== null) return { kind: "variants", variants };
  switch (schema.type ?? impliedType(schema)) {
    case "string":
      return textKind(schema);
    case "integer":
      return { kind: "number", isInteger: true };
    case "number":
      return { kind: "number", isInteger: false };
    case "boolean":
      return { kind: "boolean" };
    case "null":
      return { kind: "null" };
    case "array":
      return arrayKind(schema);
    case "object":
      return objectKind(schema);
    default:
      return { kind: "json" };
  }
}

/** The alternatives of a schema, each with the keywords beside them; null if there are none. */
function variantsOf(schema: SchemaObject): readonly JsonSchema[] | null {
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    const {
      [keyword]: _list,
      description: _description,
      title: _title,
      default: _default,
      ...rest
    } = schema;
    return list.map((variant: JsonSchema) =>
      isObject(variant) && Object.keys(rest).length > 0 ? { allOf: [rest, variant] } : variant
    );
  }
  if (!Array.isArray(schema.type)) return null;
  return schema.type.map((type: unknown) => ({ ...schema, type }));
}

function impliedType(schema: SchemaObject): string | undefined {
  if ("properties" in schema || "required" in schema || "additionalProperties" in schema) {
    return "object";
  }
  return "items" in schema || "minItems" in schema ? "array" : undefined;
}

function textKind({ maxLength, format, contentMediaType, examples }: SchemaObject): FieldKind {
  const isLong = typeof contentMediaType === "string" ||
    typeof maxLength === "number" && maxLength > LONG_TEXT;
  return {
    kind: "text",
    isLong,
    format: typeof format === "string" ? format : null,
    examples: Array.isArray(examples) ? examples.filter((one) => typeof one === "string") : [],
  };
}

function arrayKind({ items, prefixItems }: SchemaObject): FieldKind {
  // Lists with a different schema per index are rare enough to be edited as JSON.
  if (Array.isArray(prefixItems) || Array.isArray(items)) return { kind: "json" };
  return { kind: "array", items: (items ?? true) as JsonSchema };
}

function objectKind(schema: SchemaObject): FieldKind {
  const { properties, required, additionalProperties, patternProperties } = schema;
  const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
  return {
    kind: "object",
    properties: isObject(properties) ? properties as Record<string, JsonSchema> : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [],
    others: (additionalProperties ?? (patterns[0] as JsonSchema | undefined) ?? true) as JsonSchema,
  };
}

function follow(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = (at as Record<string, unknown> | undefined)?.[name];
  }
  return at as JsonSchema | undefined;
}

function merged(parts: readonly JsonSchema[]): SchemaObject {
  const result: Record<string, unknown> = {};
  for (const part of parts) {
    if (!isObject(part)) continue;
    const properties = mergedMembers(result.properties, part.properties);
    const required = [...(result.required as string[] ?? []), ...(part.required as string[] ?? [])];
    Object.assign(result, part);
    if (Object.keys(properties).length > 0) result.properties = properties;
    if (required.length > 0) result.required = [...new Set(required)];
  }
  return result;
}

/** A member that several parts describe must match all of them. */
function mergedMembers(before: unknown, next: unknown): Readonly<Record<string, JsonSchema>> {
  const all = new Map(Object.entries((before ?? {}) as Record<string, JsonSchema>));
  for (const [name, member] of Object.entries((next ?? {}) as Record<string, JsonSchema>)) {
    const earlier = all.get(name);
    all.set(name, earlier === undefined ? member : { allOf: [earlier, member] });
  }
  return Object.fromEntries(all);
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(
  schema: JsonSchema,
  root: JsonSchema,
  keyword: "title" | "description",
): string {
  const own = isObject(schema) ? schema[keyword] : undefined;
  if (typeof own === "string") return own;
  const resolved = resolveSchema(schema, root);
  const text = isObject(resolved) ? resolved[keyword] : undefined;
  return typeof text === "string" ? text : "";
}

/** The default that the tool uses. */
export function defaultOf(schema: JsonSchema, root: JsonSchema): Json | undefined {
  const resolved = resolveSchema(schema, root);
  return isObject(resolved) ? resolved.default as Json | undefined : undefined;
}

/** True if a field of this kind can show the value; any other value is edited as JSON. */
export function isShownBy({ kind }: FieldKind, value: Json): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "const":
    case "enum":
    case "variants":
    case "json":
      return true;
  }
}

/** The label of an alternative: its title, its constant, or the constant that distinguishes it. */
export function variantName(variant: JsonSchema, index: number, root: JsonSchema): string {
  const title = textOf(variant, root, "title");
  if (title !== "") return title;
  const kind = fieldKind(variant, root);
  if (kind.kind === "const") return JSON.stringify(kind.value);
  if (kind.kind === "null") return "Nothing (null)";
  if (kind.kind === "object") {
    const tag = Object.values(kind.properties).map((one) => fieldKind(one, root))
      .find((one) => one.kind === "const");
    if (tag !== undefined) return String(tag.value);
  }
  return `${index + 1}: ${kind.kind}`;
}
