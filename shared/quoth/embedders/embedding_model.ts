import type { EmbeddedDocument } from "./embedder_port.ts";

/** What a model is given: the pieces of documents, or one query. */
export type EmbeddingInput =
  | { readonly kind: "documents"; readonly items: readonly EmbeddedDocument[] }
  | { readonly kind: "query"; readonly text: string };

/** One model behind its wire format: the neural part of an embedder. */
export interface EmbeddingModel {
  /**
   * Sends one request. The vectors come in the order of the texts, with the model's own length and
   * norm; whoever calls checks both.
   */
  embed(input: EmbeddingInput, signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

/** The texts of an input, as they are. */
export function textsOf(input: EmbeddingInput): readonly string[] {
  return input.kind === "query" ? [input.text] : input.items.map(({ text }) => text);
}
