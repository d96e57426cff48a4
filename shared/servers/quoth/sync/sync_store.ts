import type { JsonObject } from "../../../platform/values/json.ts";
import type { ErrorBody } from "../../../platform/errors/swarm_error.ts";
import type { TreeFile } from "../github/github_port.ts";
import type { LeaseState, WorkLease } from "../../../engine/work/work_kind.ts";

/** A worker's lease on a sync; older epochs are rejected. */
export interface SyncLease {
  readonly syncId: string;
  /** A bigint, as text. */
  readonly epoch: string;
}

/** The kinds of syncs. */
export interface SyncContext {
  readonly kind: "tree" | "files" | "embed";
  readonly reason: "push" | "files" | "request" | "head_check" | "pending_chunks";
  /** The commit whose tree has been compared; null before the comparison. */
  readonly commitSha: string | null;
  readonly project: SyncedProject;
}

/** The project data that syncs need. */
export interface SyncedProject {
  readonly id: string;
  /** `owner/name`; null for a project whose files are sent directly. */
  readonly githubRepo: string | null;
  readonly defaultBranch: string;
  readonly includeGlobs: readonly string[];
  /** The commit whose tree the documents equal, unless a later one has been started. */
  readonly indexedCommit: string | null;
  readonly headCommit: string | null;
  /** Lowest splitter version of its chunks; null without documents, or if no tree is compared. */
  readonly chunkerVersion: number | null;
  /** Whether GitHub did not return some of that commit's files, and should be asked again. */
  readonly lacksFiles: boolean;
  /** The current embedder; null if there is none. */
  readonly embedder: ChunkTarget | null;
  /** The embedder that it is switching to, or null. */
  readonly nextEmbedder: ChunkTarget | null;
}

/** The embedder that chunks are created for. */
export interface ChunkTarget {
  /** Name of the embedder. */
  readonly name: string;
  readonly windowTokens: number;
  /** Whether its work is CPU time of this isolate. */
  readonly runsHere: boolean;
}

/** A sync that this worker has claimed. */
export interface ClaimedSync extends SyncLease {
  readonly context: SyncContext;
}

/** A file to process in a sync. */
export interface SyncFile {
  readonly seq: number;
  readonly action: "move" | "write" | "delete";
  readonly filePath: string;
  readonly blobSha: string | null;
  readonly sizeBytes: number;
  /** The document's text if it is unchanged or was sent directly. Null if it must be fetched. */
  readonly content: string | null;
  /** Whether the document already has this content and matching chunks. */
  readonly isCurrent: boolean;
  /** How often a worker has started it, including this time. */
  readonly deliveries: number;
}

/** A document for the database. */
export interface StoredDocument {
  readonly title: string;
  readonly content: string;
  readonly checksum: string;
  readonly chunker_version: number;
  readonly front_matter: JsonObject;
}

/** A chunk for the database. */
export interface StoredChunk {
  readonly content: string;
  readonly embedded_text: string;
  readonly chunk_hash: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly heading_path: readonly string[];
  readonly anchor: string | null;
  readonly token_count: number;
}

/** The target commit of the documents. */
export interface PlannedCommit {
  readonly sha: string;
  /** Web URL of its GitHub. */
  readonly webUrl: string;
}

/** The outcome of a file. */
export type FileOutcome =
  | {
    readonly kind: "written";
    readonly document: StoredDocument;
    readonly embedder: string;
    readonly chunks: readonly StoredChunk[];
  }
  /** Deleted or unchanged: there is nothing to store. */
  | { readonly kind: "done" }
  /** It cannot be indexed; the next files can. */
  | { readonly kind: "refused"; readonly error: ErrorBody };

/** The database operations of a sync's worker: each call is one transaction. */
export interface SyncStore {
  /** The next sync that may run, or null. */
  claim(workerId: string): Promise<ClaimedSync | null>;
  /** Compares a commit's files with the documents, and returns the amount of work. */
  plan(lease: SyncLease, commit: PlannedCommit, files: readonly TreeFile[]): Promise<number>;
  /** The next files, marked as started. */
  begin(lease: SyncLease, limit: number): Promise<readonly SyncFile[]>;
  /** Applies the outcome of a file. A repeated call changes nothing. */
  apply(lease: SyncLease, seq: number, outcome: FileOutcome): Promise<void>;
  renew(leases: readonly WorkLease[]): Promise<readonly LeaseState[]>;
  /**
   * Ends a completed sync; records a `headCommit` that needed no work.
   *
   * @returns false if more work has arrived in the meantime.
   */
  finish(lease: SyncLease, headCommit: string | null): Promise<boolean>;
  /**
   * The sync could not continue: it waits for a retry, or fails. Without an error it only waits.
   */
  fail(
    lease: SyncLease,
    error: ErrorBody | null,
    retry: { readonly isRetryable: boolean; readonly retryAfterSeconds: number | null },
  ): Promise<"pending" | "failed">;
  /** Hands it on to the next worker. */
  yield(lease: SyncLease): Promise<void>;
  /** Requests another worker in a separate isolate. */
  wakeSuccessor(): Promise<void>;
  /** The token for a project's repository; null for none. */
  githubToken(projectId: string): Promise<string | null>;
}
