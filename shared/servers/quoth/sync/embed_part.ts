import type { EmbeddedDocument } from "../embedders/embedder_port.ts";
import type { EmbeddedPart } from "../embedders/metered_embedder.ts";

/**
 * Embeds as many of the first texts as an embedder accepts in one request and its limits allow.
 *
 * @throws SwarmError like `MeteredEmbedder.embedPart()`.
 */
export type EmbedPart = (
  embedder: string,
  texts: readonly EmbeddedDocument[],
  signal: AbortSignal,
) => Promise<EmbeddedPart>;
