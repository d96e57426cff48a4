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
/** A schema that contains itself ends here. */
const MAX_DEPTH = 12;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** The TypeScript type of the values that a JSON Schema accepts; `Json` where it accepts anything. */
export function schemaType(schema: unknown): string {
  return typeOf(schema as Schema, schema as Schema, 0);
}

/** A property's name, quoted if TypeScript requires it. */
export function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

function typeOf(schema: Schema | boolean | undefined, root: Schema, depth: number): string {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return "Json";
  const inner = (part: Schema) => typeOf(part, root, depth + 1);
  if (schema.$ref !== undefined) return typeOf(definition(schema.$ref, root), root, depth + 1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map(inner));
  if (schema.allOf !== undefined) {
    return schema.allOf.map((part) => `(${inner(part)})`).join(" & ");
  }
  const types = schema.type === undefined ? impliedTypes(schema) : [schema.type].flat();
  if (types.length === 0) return "Json";
  return union(types.map((type) => {
    if (type === "object") return objectType(schema, root, depth);
    if (type === "array") return arrayType(schema, inner);
    return PRIMITIVES[type] ?? "Json";
  }));
}

function impliedTypes({ properties, items, prefixItems }: Schema): string[] {
  if (properties !== undefined) return ["object"];
  return items !== undefined || prefixItems !== undefined ? ["array"] : [];
}

function objectType(schema: Schema, root: Schema, depth: number): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${propertyName(name)}${mark}: ${typeOf(property, root, depth + 1)}`;
  });
  if (typeof additionalProperties === "object") {
    // A property may have any of the types, because an index covers all properties.
    members.push(
      Object.keys(properties).length === 0
        ? `[name: string]: ${typeOf(additionalProperties, root, depth + 1)}`
        : "[name: string]: Json | undefined",
    );
  }
  return members.length === 0 ? "JsonObject" : `{ ${members.join("; ")} }`;
}

function arrayType({ items, prefixItems }: Schema, inner: (part: Schema) => string): string {
  if (prefixItems !== undefined) return `[${prefixItems.map(inner).join(", ")}]`;
  return items === undefined ? "Json[]" : `(${inner(items)})[]`;
}

function literal(value: unknown): string {
  return value === null || ["string", "number", "boolean"].includes(typeof value)
    ? JSON.stringify(value)
    : "Json";
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ") || "never";
}

function definition(reference: string, root: Schema): Schema | undefined {
  return reference.startsWith("#/")
    ? reference.slice(2).split("/").reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      root,
    ) as Schema | undefined
    : undefined;
}
