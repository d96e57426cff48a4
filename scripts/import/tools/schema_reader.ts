import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { listOf, type Part, partOf, target, textOf } from "./openapi_parts.ts";
import { ownMember } from "../../../shared/platform/values/own_member.ts";

/** How much of a schema is kept. */
export interface SchemaLimits {
  readonly maxDepth: number;
  /** Longer descriptions are cut; zero leaves them out. */
  readonly maxDescription: number;
}

/** Types as documents write them that no draft has. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ int: "integer", int32: "integer", int64: "integer", long: "integer" },
  ...{ float: "number", double: "number", decimal: "number", numeric: "number" },
  ...{ bool: "boolean", dict: "object", map: "object", hash: "object", list: "array" },
  ...{ str: "string", text: "string", date: "string", datetime: "string", uuid: "string" },
  ...{ file: "string", binary: "string", byte: "string", password: "string", enum: "string" },
};
const JSON_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const COUNTS = [
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
];
const NUMBERS = ["minimum", "maximum", "multipleOf"];
const TEXTS = ["title", "format", "pattern"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
/** Of one keyword, such as a list of allowed values. */
const MAX_VALUE_CHARACTERS = 10_000;
/** Schemas of one tool; what comes after them accepts anything. */
const MAX_SCHEMAS = 4_000;

/**
 * Reads the schemas of an OpenAPI document, 2.0 to 3.1, as JSON Schema of one tool. References become
 * `$defs`, so that schemas may contain themselves. What is not valid is left out.
 */
export class SchemaReader {
  readonly defs: Record<string, JsonValue> = {};
  readonly notes = new Set<string>();
  readonly #names = new Map<string, string>();
  readonly #document: Part;
  readonly #limits: SchemaLimits;
  #count = 0;

  constructor(document: Part, limits: SchemaLimits) {
    this.#document = document;
    this.#limits = limits;
  }

  /** Converts a schema, which may be a reference. */
  read(value: unknown, depth = 0): JsonValue {
    if (typeof value === "boolean") return value;
    const schema = partOf(value);
    if (depth > this.#limits.maxDepth || this.#count++ > MAX_SCHEMAS) {
      this.notes.add("its schemas are cut, because they are too large");
      return {};
    }
    const reference = textOf(schema.$ref);
    return reference === "" ? this.#readOwn(schema, depth) : this.#readReference(reference, depth);
  }

  #readReference(reference: string, depth: number): JsonValue {
    const known = this.#names.get(reference);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const found = target(this.#document, reference);
    if (found === undefined) {
      this.notes.add(`${reference} is not in the document; it accepts anything`);
      return {};
    }
    const last = reference.slice(reference.lastIndexOf("/") + 1).replace(/[^A-Za-z0-9_]+/g, "_");
    let name = last;
    for (let number = 2; Object.hasOwn(this.defs, name); number++) name = `${last}_${number}`;
    this.#names.set(reference, name);
    this.defs[name] = {};
    this.defs[name] = this.read(found, depth + 1);
    return { $ref: `#/$defs/${name}` };
  }

  #readOwn(schema: Part, depth: number): JsonObject {
    const read: Record<string, JsonValue> = {};
    const types = this.#typesOf(schema);
    const isNullable = schema.nullable === true || schema["x-nullable"] === true;
    if (types.length > 0) {
      const all = isNullable && !types.includes("null") ? [...types, "null"] : types;
      read.type = all.length === 1 ? all[0] ?? "string" : all;
    }
    for (const key of TEXTS) {
      if (textOf(schema[key]) !== "" && this.#fits(key, schema[key])) {
        read[key] = textOf(schema[key]);
      }
    }
    const description = this.shortened(textOf(schema.description));
    if (description !== "") read.description = description;
    for (const key of COUNTS) if (Number.isInteger(schema[key])) read[key] = Number(schema[key]);
    for (const key of NUMBERS) if (typeof schema[key] === "number") read[key] = Number(schema[key]);
    readBounds(schema, read);
    const values = listOf(schema.enum).filter(isJson);
    if (values.length > 0 && this.#fits("enum", values)) {
      read.enum = isNullable && !values.includes(null) ? [...values, null] : values;
    }
    if (isJson(schema.const) && this.#fits("const", schema.const)) read.const = schema.const;
    if (isJson(schema.default) && this.#fits("default", schema.default)) {
      read.default = schema.default;
    }
    if (schema.uniqueItems === true) read.uniqueItems = true;
    for (const key of LISTS) {
      const parts = listOf(schema[key]).map((part) => this.read(part, depth + 1));
      if (parts.length > 0) read[key] = parts;
    }
    for (const key of ["items", "additionalProperties", "not"]) {
      if (typeof schema[key] === "boolean" || Object.keys(partOf(schema[key])).length > 0) {
        read[key] = this.read(schema[key], depth + 1);
      }
    }
    if (Array.isArray(schema.items) && schema.items.length > 0) {
      read.items = { anyOf: schema.items.map((item) => this.read(item, depth + 1)) };
    }
    this.#readProperties(schema, read, depth);
    return read;
  }

  #readProperties(schema: Part, read: Record<string, JsonValue>, depth: number): void {
    const entries = Object.entries(partOf(schema.properties))
      // What the server alone writes is no argument.
      .filter(([, property]) => partOf(property).readOnly !== true);
    if (entries.length === 0) return;
    read.type ??= "object";
    read.properties = Object.fromEntries(
      entries.map(([name, property]) => [name, this.read(property, depth + 1)]),
    );
    const names = entries.map(([name]) => name);
    const required = [
      ...listOf(schema.required).map(textOf),
      // Some documents mark the property itself.
      ...entries.filter(([, property]) => partOf(property).required === true).map(([name]) => name),
    ].filter((name) => names.includes(name));
    if (required.length > 0) read.required = [...new Set(required)];
  }

  /** Whether the value of a keyword is small enough for a prompt. */
  #fits(key: string, value: unknown): boolean {
    const isSmall = JSON.stringify(value).length <= MAX_VALUE_CHARACTERS;
    if (!isSmall) this.notes.add(`a ${key} is too large and is left out`);
    return isSmall;
  }

  #typesOf(schema: Part): string[] {
    const written = (Array.isArray(schema.type) ? schema.type : [schema.type]).map(textOf)
      .filter((type) => type !== "");
    return [
      ...new Set(written.flatMap((type) => {
        const plain = type.toLowerCase();
        const known = JSON_TYPES.includes(plain) ? plain : ownMember(TYPES, plain);
        if (known === undefined && plain !== "any") {
          this.notes.add(`the type ${type} is unknown; it accepts anything`);
        }
        return known === undefined ? [] : [known];
      })),
    ];
  }

  /** As much of a description as is kept. */
  shortened(text: string): string {
    const { maxDescription } = this.#limits;
    return text.length > maxDescription ? text.slice(0, maxDescription).trimEnd() : text;
  }
}

/** Bounds that a value must not reach: a number, or before 3.1 a mark on the bound. */
function readBounds(schema: Part, read: Record<string, JsonValue>): void {
  const bounds = [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const;
  for (const [exclusive, inclusive] of bounds) {
    const value = schema[exclusive];
    if (typeof value === "number") read[exclusive] = value;
    if (value === true && typeof read[inclusive] === "number") {
      read[exclusive] = read[inclusive];
      delete read[inclusive];
    }
  }
}

function isJson(value: unknown): value is JsonValue {
  if (value === undefined || typeof value === "bigint") return false;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false; // It contains itself.
  }
}
