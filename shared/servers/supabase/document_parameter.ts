import type { JsonValue } from "../../json.ts";

/** A parameter of a statement as the driver takes it. */
export type StatementParameter = string | number | boolean | null | DocumentParameter;

/** An object or a list, which is its own JSON whether the driver asks for JSON or for text. */
export class DocumentParameter {
  constructor(readonly value: Exclude<JsonValue, string | number | boolean | null>) {}

  toJSON(): JsonValue {
    return this.value;
  }

  toString(): string {
    return JSON.stringify(this.value);
  }
}
