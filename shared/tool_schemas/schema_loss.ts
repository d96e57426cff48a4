import { z } from "../vendor/zod.js";

const lossActionSchema = z.enum([
  // The rule stands in a description instead.
  "described",
  // Left out: the keyword is unknown, or its value has no meaning.
  "removed",
  // The property has another name; arguments are mapped back.
  "renamed",
  // A choice or sum at the root became one object; the rule stands in its description.
  "folded",
  // A schema that contains itself ends here.
  "cut",
  // More is allowed than the original allows.
  "widened",
  // Why the provider's strict mode cannot be used.
  "not_strict",
]);

/** What became of something that a tool's schema says and a provider does not take. */
export type LossAction = z.infer<typeof lossActionSchema>;

/** One entry of a loss report. Calls are validated against the original, whatever was lost. */
export interface SchemaLoss {
  /** Where, as a JSON path from the arguments: `$.filter.tags[*]`. */
  readonly path: string;
  readonly keyword: string;
  readonly action: LossAction;
}

/** Takes down losses as they happen. */
export type ReportLoss = (loss: SchemaLoss) => void;

const lossesOfOneSchema = z.array(
  z.object({ path: z.string(), keyword: z.string(), action: lossActionSchema }),
);

/** The loss reports of one tool, as the cache of tools keeps them; empty before the first. */
export const schemaLossesSchema = z.partialRecord(
  z.enum(["openai", "anthropic", "gemini"]),
  lossesOfOneSchema,
);

/** See {@linkcode schemaLossesSchema}. */
export type SchemaLosses = z.infer<typeof schemaLossesSchema>;
