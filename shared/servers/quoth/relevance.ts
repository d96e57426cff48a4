import type { ChunkHit } from "./merge_hits.ts";

/**
 * The relevance of each hit, such as `83%`: its cosine similarity. A hit without a vector gets a
 * share of the answer's highest similarity in proportion to its word rank, so that it never ranks
 * above a compared hit. If no hit has a vector, relevance is by words only, and the best hit has
 * 100%.
 */
export function relevancesOf(
  hits: readonly Pick<ChunkHit, "similarity" | "text_score">[],
): string[] {
  const similarities = hits.flatMap(({ similarity }) => similarity ?? []);
  const highest = similarities.length === 0 ? 1 : Math.max(...similarities);
  return hits.map(({ similarity, text_score: textScore }) =>
    toPercent(similarity ?? textScore * highest)
  );
}

function toPercent(share: number): string {
  return `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%`;
}
