import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { partOf } from "./openapi_parts.ts";

const MAX_NAME_CHARACTERS = 64;

/** The arguments of a tool, with names that models and placeholders accept. */
export class OperationArguments {
  readonly properties: Record<string, JsonValue> = {};
  readonly required: string[] = [];

  /** Adds an argument, and returns its name: the wanted one, or a similar one that is free. */
  add(
    wanted: string,
    schema: JsonValue,
    { isRequired, place }: { readonly isRequired: boolean; readonly place: string },
  ): string {
    const plain = wanted.replace(/[^A-Za-z0-9_.-]+/g, "_").replace(/_+$/, "")
      .replace(/^(?![A-Za-z_])/, "_").slice(0, MAX_NAME_CHARACTERS - 12) || place;
    let name = plain;
    for (let number = 1; Object.hasOwn(this.properties, name); number++) {
      name = `${plain}_${place}${number === 1 ? "" : number}`;
    }
    this.properties[name] = schema;
    if (isRequired) this.required.push(name);
    return name;
  }

  /** The schema of all arguments. */
  schema(defs: Readonly<Record<string, JsonValue>>): JsonObject {
    return {
      type: "object",
      properties: this.properties,
      ...this.required.length > 0 ? { required: this.required } : {},
      ...Object.keys(defs).length > 0 ? { $defs: defs } : {},
    };
  }
}

/** A schema with a description, unless it has one. */
export function described(schema: JsonValue, description: string): JsonValue {
  if (description === "" || typeof schema !== "object") return schema;
  return { ...partOf(schema) as JsonObject, description };
}
