import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { createEmbedderResolver } from "./embedders/resolve_embedder.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import type { ProjectState } from "./project_state.ts";

/** The vector of a query, or the reason why a search uses words only. */
export type QueryVector =
  | { readonly vector: readonly number[] }
  | { readonly vector: null; readonly reason: string };

/** Time limit for the embedder; afterwards, the search uses only words, because a caller waits. */
const EMBEDDER_TIMEOUT_MS = 10_000;

/**
 * Embeds a query in the project's vector space. If the embedder is unavailable, the search uses
 * words only; that is not an error.
 *
 * @throws the reason of the call's signal; errors other than a failure of the embedder.
 */
export async function embedSearch(
  query: string,
  { embedder, has_vectors: hasVectors }: ProjectState,
  { sql, fetch, signal, usedModel }: Pick<ToolContext, "sql" | "fetch" | "signal" | "usedModel">,
): Promise<QueryVector> {
  if (embedder === null) return { vector: null, reason: "the project has no embedder yet" };
  if (!hasVectors) return { vector: null, reason: "no chunk of the project has a vector yet" };
  try {
    const resolve = createEmbedderResolver(sql, {
      transport: { fetch, nowMs: Date.now, requestTimeoutMs: EMBEDDER_TIMEOUT_MS },
      onUsage: (usage) => usedModel({ ...usage, keySource: "organisation", outputTokens: 0 }),
    });
    const { metered } = await resolve(embedder);
    return { vector: await metered.embedQuery(query, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SwarmError) || !error.code.startsWith("EMBEDDER_")) throw error;
    return { vector: null, reason: `${error.code}: ${error.message}` };
  }
}
