import type { JsonValue } from "../../json.ts";

/** A parameter of a statement as the driver accepts it. */
export type StatementParameter = string | number | boolean | null | DocumentParameter;

/** An object or list that serializes to the same JSON as a JSON or a text parameter. */
export class DocumentParameter {
  constructor(readonly value: Exclude<JsonValue, string | number | boolean | null>) {}

  toJSON(): JsonValue {
    return this.value;
  }

  toString(): string {
    return JSON.stringify(this.value);
  }
}
