import type { ErrorBody } from "../../../platform/errors/swarm_error.ts";
import type { StoredChunk, SyncLease } from "./sync_store.ts";

/** A text without a vector, claimed for a limited time. */
export interface ClaimedChunk {
  readonly chunkHash: string;
  /** A bigint, as text. */
  readonly epoch: string;
  readonly title: string;
  readonly text: string;
}

/** The texts of one project for one embedder. */
export interface ChunkQueue {
  readonly projectId: string;
  readonly embedder: string;
}

/** A vector by the hash of its text. */
export interface ChunkVector {
  readonly chunkHash: string;
  readonly embedding: readonly number[];
}

/** A document that lacks chunks for its project's next embedder. */
export interface DocumentToChunk {
  readonly documentId: string;
  readonly embedder: string;
  readonly filePath: string;
  readonly content: string;
  readonly contentHash: string;
}

/** The texts that wait for vectors. */
export interface ChunkStore {
  claim(queue: ChunkQueue, limit: number): Promise<readonly ClaimedChunk[]>;
  /** Stores vectors for all chunks of the project with these texts. */
  put(queue: ChunkQueue, vectors: readonly ChunkVector[]): Promise<void>;
  /**
   * Ends claims without a vector. With an error, the texts were rejected and may fail permanently.
   */
  giveBack(
    queue: ChunkQueue,
    claims: readonly ClaimedChunk[],
    error: ErrorBody | null,
  ): Promise<void>;
  /** Counts texts that were embedded, which is progress of the sync, and renews its lease. */
  count(lease: SyncLease, embeddedCount: number): Promise<void>;
  documentsToChunk(projectId: string, limit: number): Promise<readonly DocumentToChunk[]>;
  /**
   * Records progress of the sync. Stores nothing if the document or the switch has changed.
   */
  addChunks(
    lease: SyncLease,
    document: DocumentToChunk,
    chunks: readonly StoredChunk[],
  ): Promise<void>;
}
