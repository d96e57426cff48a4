import { z } from "../../vendor/zod.js";

/** A chunk as `search_documents` finds it. */
export const chunkHitSchema = z.object({
  document_id: z.string(),
  file_path: z.string(),
  title: z.string(),
  heading_path: z.array(z.string()),
  chunk_index: z.number(),
  start_line: z.number().nullable(),
  end_line: z.number().nullable(),
  content_chunk: z.string(),
  commit_sha: z.string().nullable(),
  score: z.number(),
  similarity: z.number().nullable(),
  vector_rank: z.number().nullable(),
  text_score: z.number(),
  text_rank: z.number().nullable(),
  matched_terms: z.array(z.string()),
});

export type ChunkHit = z.infer<typeof chunkHitSchema>;

/** Several adjacent chunks of a file as one hit. */
export interface MergedHit {
  /** The better of the chunks. */
  readonly best: ChunkHit;
  /** In the order of the document; one or two. */
  readonly chunks: readonly ChunkHit[];
}

/** Chunks of one file in an answer. */
export const MAX_CHUNKS_OF_FILE = 2;

/**
 * Combines chunks into an answer, best first: at most two chunks per file, adjacent ones as one
 * hit, at most `limit` hits.
 */
export function mergeHits(found: readonly ChunkHit[], limit: number): MergedHit[] {
  const hits: MergedHit[] = [];
  const ofFile = new Map<string, number>();
  for (const chunk of found) {
    const count = ofFile.get(chunk.document_id) ?? 0;
    if (count >= MAX_CHUNKS_OF_FILE) continue;
    const at = hits.findIndex(({ best }) =>
      best.document_id === chunk.document_id &&
      Math.abs(best.chunk_index - chunk.chunk_index) === 1
    );
    const neighbour = hits[at];
    if (neighbour !== undefined) {
      const chunks = [neighbour.best, chunk].sort((a, b) => a.chunk_index - b.chunk_index);
      hits[at] = { best: neighbour.best, chunks };
    } else if (hits.length < limit) {
      hits.push({ best: chunk, chunks: [chunk] });
    } else {
      continue;
    }
    ofFile.set(chunk.document_id, count + 1);
  }
  return hits;
}

/** The text of a hit: its chunks with the blank lines between them. */
export function hitText({ chunks }: MergedHit): string {
  return chunks.reduce((text, chunk, index) => {
    const before = chunks[index - 1];
    if (before === undefined) return chunk.content_chunk;
    const gap = (chunk.start_line ?? 0) - (before.end_line ?? 0);
    return `${text}${"\n".repeat(Math.min(Math.max(gap, 1), 3))}${chunk.content_chunk}`;
  }, "");
}
