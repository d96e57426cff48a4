import { readableJson } from "../../../../client/json_text.ts";
import { fenceData } from "../../tool_contracts/fence_data.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../platform/values/json.ts";
import { fitsSchema } from "../../../models/tool_schemas/fits_schema.ts";
import type { KnownGoodParameters } from "../../tool_contracts/agent_tool.ts";
import type { LearnedParameters } from "../../tool_contracts/tool_records.ts";

/** Longer examples cost more tokens than they save errors. */
const MAX_EXAMPLE_CHARACTERS = 1_000;

/**
 * The newest set that still matches the tool's schema. A shape is not validated, because its
 * placeholders are not values.
 */
export function newestKnownGood(
  learned: LearnedParameters,
  inputSchema: JsonObject,
): KnownGoodParameters | undefined {
  for (const parameters of learned.sets.toReversed()) {
    if (!isJsonObject(parameters)) continue;
    if (!learned.isShape && !fitsSchema(parameters, inputSchema)) continue;
    return { parameters, isShape: learned.isShape, successCount: learned.successCount };
  }
  return undefined;
}

/**
 * The tool's description with the shape of known-good arguments, which the model sees before its
 * first call. A shape contains only names, types and enum values of the tool's own schema and
 * nothing from a call, because text in a description reads as an instruction.
 */
export function describeWithShape(description: string, shape: JsonValue): string {
  if (!isJsonObject(shape)) return description;
  const example = JSON.stringify(shape);
  if (example.length > MAX_EXAMPLE_CHARACTERS) return description;
  return `${description}\n\nHere are the required parameters that have worked for this tool call ` +
    `(their shape): ${example}`;
}

/** Known-good arguments for a message to a model: values are fenced. */
export function knownGoodText({ parameters, isShape }: KnownGoodParameters): string {
  const text = readableJson(parameters);
  return isShape ? text : fenceData(text, "arguments of an earlier call");
}

/**
 * The known-good arguments as text for a caller's model; undefined if there are none, or if they
 * are too long.
 */
export function knownGoodSentence(knownGood: KnownGoodParameters | undefined): string | undefined {
  if (knownGood === undefined) return undefined;
  const text = knownGoodText(knownGood);
  if (text.length > MAX_EXAMPLE_CHARACTERS) return undefined;
  const kind = knownGood.isShape ? " (their shape)" : "";
  return `Here are the required parameters that have worked for this tool call${kind}: ${text}`;
}
