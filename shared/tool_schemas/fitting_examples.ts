import type { JsonObject } from "../json.ts";
import { type ArgumentShape, toProvidedArguments } from "./argument_shape.ts";
import { fitsSchema } from "./fits_schema.ts";

const MAX_EXAMPLES = 3;
/** Longer examples cost more tokens than they save errors. */
const MAX_EXAMPLE_CHARACTERS = 1_000;

/**
 * The first sets of arguments that fit both the tool's own schema and the provider's: one example
 * that does not fit would have the whole request refused.
 */
export function fittingExamples(
  sets: readonly JsonObject[],
  original: JsonObject,
  provided: { readonly parameters: JsonObject; readonly shape: ArgumentShape },
): JsonObject[] {
  const fitting: JsonObject[] = [];
  for (const set of sets) {
    if (fitting.length === MAX_EXAMPLES) break;
    if (JSON.stringify(set).length > MAX_EXAMPLE_CHARACTERS || !fitsSchema(set, original)) continue;
    const example = toProvidedArguments(set, provided.shape);
    if (fitsSchema(example, provided.parameters)) fitting.push(example);
  }
  return fitting;
}
