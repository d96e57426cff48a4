import type { EmbeddedDocument } from "../embedders/embedder_port.ts";
import type { EmbeddedPart } from "../embedders/metered_embedder.ts";

/**
 * Embeds as many of the first texts as an embedder takes at once and its limits allow.
 *
 * @throws SwarmError as `MeteredEmbedder.embedPart()` does.
 */
export type EmbedPart = (
  embedder: string,
  texts: readonly EmbeddedDocument[],
  signal: AbortSignal,
) => Promise<EmbeddedPart>;
