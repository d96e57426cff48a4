import { z } from "../../../vendor/zod.js";
import { CLOSED_SETS } from "../../../platform/db/closed_sets.ts";

/** An embedder's row, with its key. */
export const embedderConfigSchema = z.object({
  name: z.string(),
  api: z.enum(CLOSED_SETS.embedders.api),
  base_url: z.string().nullable(),
  model: z.string(),
  /** 768, 384 (the rest is a hash of the words) or 0 (no model). */
  model_dimensions: z.union([z.literal(768), z.literal(384), z.literal(0)]),
  sends_dimensions: z.boolean(),
  window_tokens: z.int(),
  max_batch_items: z.int(),
  similarity_floor: z.number(),
  is_english_only: z.boolean(),
  quota_time_zone: z.string(),
  /** Null if it is free. */
  llm_provider: z.string().nullable(),
  secret: z.string().nullable(),
});

export type EmbedderConfig = z.infer<typeof embedderConfigSchema>;
