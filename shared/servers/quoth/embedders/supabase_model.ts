import { z } from "../../../vendor/zod.js";
import type { EmbedderConfig } from "./embedder_config.ts";
import { createEmbedderError } from "./embedder_error.ts";
import { type EmbeddingModel, textsOf } from "./embedding_model.ts";

/** A model built into the edge runtime. */
export interface BuiltInSession {
  run(text: string, options: { mean_pool: boolean; normalize: boolean }): Promise<unknown>;
}

/** Opens a built-in model by name; null if the runtime has none. */
export type OpenBuiltInSession = (model: string) => BuiltInSession | null;

const vectorSchema = z.array(z.number());

/** Runs a model of the edge runtime, one text after the other: it does not support batches. */
export function createSupabaseModel(
  config: EmbedderConfig,
  openSession: OpenBuiltInSession = openEdgeSession,
): EmbeddingModel {
  return {
    async embed(input, signal) {
      const session = openSession(config.model);
      if (session === null) {
        throw createEmbedderError(config, {
          code: "EMBEDDER_UNAVAILABLE",
          message: "this runtime has no built-in models",
          hint: "Use it on a hosted project, or name another embedder.",
        });
      }
      const vectors: number[][] = [];
      for (const text of textsOf(input)) {
        signal.throwIfAborted();
        vectors.push(await embedOne(config, session, text));
      }
      return { vectors, inputTokens: null };
    },
  };
}

async function embedOne(
  config: EmbedderConfig,
  session: BuiltInSession,
  text: string,
): Promise<number[]> {
  let output: unknown;
  try {
    output = await session.run(text, { mean_pool: true, normalize: true });
  } catch (cause) {
    throw createEmbedderError(config, {
      code: "EMBEDDER_UNAVAILABLE",
      message: "the built-in model failed",
      cause,
    });
  }
  const parsed = vectorSchema.safeParse(output);
  if (parsed.success) return parsed.data;
  throw createEmbedderError(config, {
    code: "EMBEDDER_OUTPUT_INVALID",
    message: "the built-in model returned no vector",
  });
}

const edgeGlobalSchema = z.object({
  Supabase: z.object({
    ai: z.object({
      Session: z.custom<new (model: string) => BuiltInSession>((value) =>
        typeof value === "function"
      ),
    }),
  }),
});

function openEdgeSession(model: string): BuiltInSession | null {
  const edge = edgeGlobalSchema.safeParse(globalThis);
  return edge.success ? new edge.data.Supabase.ai.Session(model) : null;
}
