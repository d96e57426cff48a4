import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { fitsSchema } from "../tool_schemas/fits_schema.ts";
import type { KnownGoodParameters } from "./tool_port.ts";

/** As many as a provider that takes examples is sent. */
const MAX_EXAMPLES = 3;

/** What the tool cache remembers of calls that worked. */
export interface LearnedParameters {
  /** Newest last. */
  readonly sets: readonly JsonValue[];
  /** The sets are shapes of anyone's calls, not this caller's own arguments. */
  readonly isShape: boolean;
  readonly successCount: number;
}

/** Longer examples cost more tokens than they save errors. */
const MAX_EXAMPLE_CHARACTERS = 1_000;

/**
 * The newest set that still fits the tool's schema. A shape is taken as it is: its placeholders
 * are no values to validate.
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

/** The newest sets that are the caller's own arguments and still fit; at most three. */
export function fittingSets(learned: LearnedParameters, inputSchema: JsonObject): JsonObject[] {
  if (learned.isShape) return [];
  return learned.sets.toReversed().filter(isJsonObject)
    .filter((parameters) => fitsSchema(parameters, inputSchema)).slice(0, MAX_EXAMPLES);
}

/** The tool's description with what worked before, as the model reads it before its first call. */
export function describeWithKnownGood(
  description: string,
  knownGood: KnownGoodParameters | undefined,
): string {
  const sentence = knownGoodSentence(knownGood);
  return sentence === undefined ? description : `${description}\n\n${sentence}`;
}

/** What worked before, in words for a model; undefined where it is nothing, or too long. */
export function knownGoodSentence(knownGood: KnownGoodParameters | undefined): string | undefined {
  if (knownGood === undefined) return undefined;
  const example = JSON.stringify(knownGood.parameters);
  if (example.length > MAX_EXAMPLE_CHARACTERS) return undefined;
  const kind = knownGood.isShape ? " (their shape)" : "";
  return `Here are the required parameters that have worked for this tool call${kind}: ${example}`;
}
