import type { EmbeddedDocument } from "./embedder_port.ts";

/** What a model is given: the pieces of documents, or one query. */
export type EmbeddingInput =
  | { readonly kind: "documents"; readonly items: readonly EmbeddedDocument[] }
  | { readonly kind: "query"; readonly text: string };

/** What came of one request. */
export interface EmbeddingAnswer {
  /** In the order of the texts, with the model's own length and norm; whoever calls checks both. */
  readonly vectors: readonly (readonly number[])[];
  /** As the provider counted them; null where it does not say. */
  readonly inputTokens: number | null;
}

/** One model behind its wire format: the neural part of an embedder. */
export interface EmbeddingModel {
  /** Sends one request. */
  embed(input: EmbeddingInput, signal: AbortSignal): Promise<EmbeddingAnswer>;
}

/** The texts of an input, as they are. */
export function textsOf(input: EmbeddingInput): readonly string[] {
  return input.kind === "query" ? [input.text] : input.items.map(({ text }) => text);
}
