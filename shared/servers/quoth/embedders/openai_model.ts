import { z } from "../../../vendor/zod.js";
import type { EmbedderConfig } from "./embedder_config.ts";
import { createEmbedderError } from "./embedder_error.ts";
import { type EmbeddingModel, textsOf } from "./embedding_model.ts";
import { type EmbeddingTransport, requestEmbeddings } from "./embedding_request.ts";
import { withoutTrailing } from "../../../platform/values/without_trailing.ts";

const DEFAULT_BASE_URL = "https://api.openai.com/v1";

const answerSchema = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.int().min(0) }).nullish().catch(null),
});

/** Calls `/v1/embeddings` of any compatible server. */
export function createOpenAiModel(
  config: EmbedderConfig,
  transport: EmbeddingTransport,
): EmbeddingModel {
  const baseUrl = withoutTrailing(config.base_url ?? DEFAULT_BASE_URL, "/");
  return {
    async embed(input, signal) {
      const texts = textsOf(input);
      const answer = answerSchema.safeParse(
        await requestEmbeddings(
          config,
          {
            url: `${baseUrl}/embeddings`,
            headers: config.secret === null ? {} : { authorization: `Bearer ${config.secret}` },
            body: {
              model: config.model,
              input: texts,
              encoding_format: "float",
              ...(config.sends_dimensions ? { dimensions: config.model_dimensions } : {}),
            },
            texts,
          },
          transport,
          signal,
        ),
      );
      const vectors = answer.success ? inOrder(answer.data.data) : null;
      if (vectors !== null) {
        return { vectors, inputTokens: answer.data?.usage?.prompt_tokens ?? null };
      }
      throw createEmbedderError(config, {
        code: "EMBEDDER_OUTPUT_INVALID",
        message: "its answer has no complete list of embeddings",
      });
    },
  };
}

/** Servers may answer in any order; null if an index is missing or repeated. */
function inOrder(data: z.infer<typeof answerSchema>["data"]): number[][] | null {
  const sorted = data.toSorted((a, b) => a.index - b.index);
  return sorted.every(({ index }, place) => index === place)
    ? sorted.map(({ embedding }) => embedding)
    : null;
}
