/** A JSON Schema, as far as a type can express it. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly description?: string;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};
/** Parts of a schema that become a type. The rest, and what is nested deeper, is `Json`. */
const MAX_PARTS = 5_000;
const MAX_DEPTH = 24;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/**
 * The TypeScript type of the values that a JSON Schema accepts; `Json` where it accepts anything. A
 * property that an object does not name is no part of its type, so that the type finds a mistyped
 * name, unless the schema describes such properties.
 */
export function schemaType(schema: unknown): string {
  return typeOf(schema as Schema, {
    root: schema as Schema,
    depth: 0,
    open: [],
    left: { parts: MAX_PARTS },
  });
}

/** A property's name, quoted if TypeScript requires it. */
export function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** Where a part of a schema is. */
interface Place {
  readonly root: Schema;
  readonly depth: number;
  /** The references that lead here; a schema that contains itself ends at the second of them. */
  readonly open: readonly string[];
  readonly left: { parts: number };
}

function typeOf(schema: Schema | boolean | undefined, place: Place): string {
  const { root, open, left, depth } = place;
  if (typeof schema !== "object" || schema === null) return "Json";
  if (depth > MAX_DEPTH || left.parts-- <= 0) return "Json";
  const inner = (part: Schema) => typeOf(part, { ...place, depth: depth + 1 });
  const { $ref: reference } = schema;
  if (reference !== undefined) {
    if (open.includes(reference)) return "Json";
    return typeOf(definition(reference, root), { ...place, open: [...open, reference] });
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  const choices = schema.anyOf ?? schema.oneOf;
  return intersection([
    ownType(schema, inner),
    ...choices === undefined ? [] : [union(choices.map(inner))],
    ...(schema.allOf ?? []).map(inner),
  ]);
}

/** The type without alternatives and further parts. */
function ownType(schema: Schema, inner: (part: Schema) => string): string {
  const types = schema.type === undefined ? impliedTypes(schema) : [schema.type].flat();
  if (types.length === 0) return "Json";
  return union(types.map((type) => {
    if (type === "object") return objectType(schema, inner);
    if (type === "array") return arrayType(schema, inner);
    return PRIMITIVES[type] ?? "Json";
  }));
}

function impliedTypes({ properties, items, prefixItems }: Schema): string[] {
  if (properties !== undefined) return ["object"];
  return items !== undefined || prefixItems !== undefined ? ["array"] : [];
}

function objectType(schema: Schema, inner: (part: Schema) => string): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${propertyName(name)}${mark}: ${inner(property)}`;
  });
  if (typeof additionalProperties === "object") {
    // A property may have any of the types, because an index covers all properties.
    members.push(
      members.length === 0
        ? `[name: string]: ${inner(additionalProperties)}`
        : "[name: string]: Json | undefined",
    );
  }
  if (members.length > 0) return `{ ${members.join("; ")} }`;
  return additionalProperties === false ? "Record<string, never>" : "JsonObject";
}

function arrayType({ items, prefixItems }: Schema, inner: (part: Schema) => string): string {
  if (prefixItems !== undefined) return `[${prefixItems.map(inner).join(", ")}]`;
  return `${grouped(items === undefined ? "Json" : inner(items))}[]`;
}

function literal(value: unknown): string {
  return value === null || ["string", "number", "boolean"].includes(typeof value)
    ? JSON.stringify(value)
    : "Json";
}

function union(types: readonly string[]): string {
  return types.includes("Json") ? "Json" : [...new Set(types)].join(" | ") || "never";
}

/** `Json` excludes nothing, so it is no part of an intersection. */
function intersection(types: readonly string[]): string {
  const parts = [...new Set(types.filter((type) => type !== "Json"))];
  return parts.length > 1 ? parts.map(grouped).join(" & ") : parts[0] ?? "Json";
}

function grouped(type: string): string {
  return /^\w+$/.test(type) ? type : `(${type})`;
}

/** What a reference into the same schema means, such as `#/$defs/person`. */
function definition(reference: string, root: Schema): Schema | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  return reference.split("/").slice(1).reduce<unknown>(
    (value, key) =>
      (value as Record<string, unknown> | undefined)
        ?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")],
    root,
  ) as Schema | undefined;
}
