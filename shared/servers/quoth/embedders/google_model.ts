import { z } from "../../../vendor/zod.js";
import type { EmbedderConfig } from "./embedder_config.ts";
import { createEmbedderError } from "./embedder_error.ts";
import { type EmbeddingInput, type EmbeddingModel, textsOf } from "./embedding_model.ts";
import { type EmbeddingTransport, requestEmbeddings } from "./embedding_request.ts";

const DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com";

const answerSchema = z.object({
  embeddings: z.array(z.object({ values: z.array(z.number()) })),
  usageMetadata: z.object({ promptTokenCount: z.int().min(0) }).nullish().catch(null),
});

/**
 * Calls Gemini's `batchEmbedContents` with plain `fetch`: the vendor's SDK merges several texts
 * into one vector for `gemini-embedding-2`.
 */
export function createGoogleModel(
  config: EmbedderConfig,
  transport: EmbeddingTransport,
): EmbeddingModel {
  const origin = (config.base_url ?? DEFAULT_BASE_URL).replace(/(\/v1(beta)?)?\/?$/, "");
  const model = `models/${config.model}`;
  return {
    async embed(input, signal) {
      const parts = isPrefixed(config.model) ? prefixedParts(input) : taskParts(input);
      const answer = answerSchema.safeParse(
        await requestEmbeddings(
          config,
          {
            url: `${origin}/v1beta/${model}:batchEmbedContents`,
            headers: config.secret === null ? {} : { "x-goog-api-key": config.secret },
            body: {
              requests: parts.map((part) => ({
                model,
                outputDimensionality: config.model_dimensions,
                ...part,
              })),
            },
            texts: textsOf(input),
          },
          transport,
          signal,
        ),
      );
      if (answer.success) {
        const { embeddings, usageMetadata } = answer.data;
        return {
          vectors: embeddings.map(({ values }) => values),
          inputTokens: usageMetadata?.promptTokenCount ?? null,
        };
      }
      throw createEmbedderError(config, {
        code: "EMBEDDER_OUTPUT_INVALID",
        message: "its answer has no list of embeddings",
      });
    },
  };
}

/** The second generation ignores task types and reads them from the text. */
function isPrefixed(model: string): boolean {
  return model.startsWith("gemini-embedding-2");
}

function taskParts(input: EmbeddingInput) {
  if (input.kind === "query") {
    return [{ content: toContent(input.text), taskType: "RETRIEVAL_QUERY" }];
  }
  return input.items.map(({ title, text }) => ({
    content: toContent(text),
    taskType: "RETRIEVAL_DOCUMENT",
    ...(title === "" ? {} : { title }),
  }));
}

function prefixedParts(input: EmbeddingInput) {
  if (input.kind === "query") {
    return [{ content: toContent(`task: search result | query: ${input.text}`) }];
  }
  return input.items.map(({ title, text }) => ({
    content: toContent(`title: ${title || "none"} | text: ${text}`),
  }));
}

function toContent(text: string) {
  return { parts: [{ text }] };
}
