import type { ChunkHit } from "./merge_hits.ts";

/**
 * Says of each hit how relevant it is, such as `83%`: its cosine similarity. One that has no vector
 * yet gets the highest similarity of the answer in proportion to its words, so that it never looks
 * nearer than what was compared; where no hit has a vector, words alone count, the best being 100%.
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
