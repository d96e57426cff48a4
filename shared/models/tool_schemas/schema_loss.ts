import { z } from "../../vendor/zod.js";

const lossActionSchema = z.enum([
  // The rule moved to a description.
  "described",
  // Dropped: the keyword is unknown, or its value is meaningless.
  "removed",
  // The property has another name; arguments are mapped back.
  "renamed",
  // A choice or sum at the root became one object; the rule moved to its description.
  "folded",
  // A recursive schema was cut here.
  "cut",
  // More is allowed than the original allows.
  "widened",
  // Why the provider's strict mode cannot be used.
  "not_strict",
]);

/** How a schema feature was handled that a provider does not support. */
export type LossAction = z.infer<typeof lossActionSchema>;

/** One entry of a loss report. Calls are always validated against the original schema. */
export interface SchemaLoss {
  /** Where, as a JSON path from the arguments: `$.filter.tags[*]`. */
  readonly path: string;
  readonly keyword: string;
  readonly action: LossAction;
}

/** Records losses as they happen. */
export type ReportLoss = (loss: SchemaLoss) => void;

const lossesOfOneSchema = z.array(
  z.object({ path: z.string(), keyword: z.string(), action: lossActionSchema }),
);

/** The loss reports of one tool, as stored in the tool cache; empty before the first. */
export const schemaLossesSchema = z.partialRecord(
  z.enum(["openai", "anthropic", "gemini"]),
  lossesOfOneSchema,
);

/** See {@linkcode schemaLossesSchema}. */
export type SchemaLosses = z.infer<typeof schemaLossesSchema>;
