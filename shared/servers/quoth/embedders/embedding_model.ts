import type { EmbeddedDocument } from "./embedder_port.ts";

/** The input of a model: parts of documents, or one query. */
export type EmbeddingInput =
  | { readonly kind: "documents"; readonly items: readonly EmbeddedDocument[] }
  | { readonly kind: "query"; readonly text: string };

/** The result of one request. */
export interface EmbeddingAnswer {
  /** In the order of the texts, with the model's own length and norm; the caller checks both. */
  readonly vectors: readonly (readonly number[])[];
  /** As counted by the provider; null if it does not report them. */
  readonly inputTokens: number | null;
}

/** One model behind its wire format: the neural part of an embedder. */
export interface EmbeddingModel {
  /** Sends one request. */
  embed(input: EmbeddingInput, signal: AbortSignal): Promise<EmbeddingAnswer>;
}

/** The texts of an input, unchanged. */
export function textsOf(input: EmbeddingInput): readonly string[] {
  return input.kind === "query" ? [input.text] : input.items.map(({ text }) => text);
}
