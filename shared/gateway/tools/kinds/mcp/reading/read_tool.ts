import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { withoutHidden } from "../../../../tool_contracts/tool_definition.ts";
import type { DroppedTool } from "../../../../tool_contracts/tool_server.ts";
import { headerAnnotationProblem } from "./header_annotations.ts";
import { flag, kindOfPart, members, object, type PartReader, text } from "./parts.ts";
import { readSchema, withoutDangling } from "./read_schema.ts";
import { LISTED } from "./shapes.ts";

const MAX_NAME_CHARACTERS = 256;

/** A definition that can be used, with its omitted parts; without one, why there is none. */
export interface ReadTool {
  readonly tool: JsonObject | null;
  readonly dropped: readonly DroppedTool[];
}

const outputSchema: PartReader = (value, path, leftOut) => {
  const schema = object(value);
  return isJsonObject(schema) ? readWholeSchema(schema, path, leftOut) : undefined;
};

const definition = members({
  ...LISTED,
  name: text,
  outputSchema,
  annotations: members({
    title: text,
    readOnlyHint: flag,
    destructiveHint: flag,
    idempotentHint: flag,
    openWorldHint: flag,
  }),
  execution: object,
});

/** A tool as the protocol defines it. Only what a call cannot do without makes it unusable. */
export function readTool(given: JsonValue): ReadTool {
  if (!isJsonObject(given)) return unusable("(without a name)", `it is ${kindOfPart(given)}`);
  const { name = null } = given;
  if (typeof name !== "string" || name === "") {
    return unusable("(without a name)", `name is ${kindOfPart(name)}`);
  }
  const shownName = withoutHidden(name);
  if (shownName !== name) return unusable(shownName, "name has invisible characters");
  if (name.length > MAX_NAME_CHARACTERS) {
    return unusable(name, `name has more than ${MAX_NAME_CHARACTERS} characters`);
  }
  const leftOut: string[] = [];
  const inputSchema = readInputSchema(given.inputSchema ?? null, leftOut);
  if (typeof inputSchema === "string") return unusable(name, inputSchema);
  const read = definition({ ...given, inputSchema }, "", leftOut);
  if (!isJsonObject(read)) return unusable(name, "it is not an object");
  const problem = headerAnnotationProblem(inputSchema);
  if (problem !== null) return unusable(name, problem);
  return { tool: read, dropped: leftOut.map((reason) => ({ name, is_part: true, reason })) };
}

/** The schema of a tool's arguments, which are an object; a text that says why there is none. */
function readInputSchema(given: JsonValue, leftOut: string[]): JsonObject | string {
  if (given === null) return { type: "object" };
  const schema = object(given);
  if (!isJsonObject(schema)) return `inputSchema is ${kindOfPart(given)}`;
  const { type = null } = schema;
  const isObject = type === null || type === "object" ||
    Array.isArray(type) && type.includes("object");
  if (!isObject) return `inputSchema: must have the type "object", not ${kindOfPart(type)}`;
  return readWholeSchema({ ...schema, type: "object" }, "inputSchema", leftOut);
}

function readWholeSchema(given: JsonObject, path: string, leftOut: string[]): JsonObject {
  return withoutDangling(readSchema(given, path, leftOut), path, leftOut);
}

function unusable(name: string, reason: string): ReadTool {
  return { tool: null, dropped: [{ name, reason }] };
}
