import type { JsonObject } from "../../json.ts";
import type { ErrorBody } from "../../errors/swarm_error.ts";
import type { TreeFile } from "../github/github_port.ts";
import type { LeaseState, WorkLease } from "../../work/work_kind.ts";

/** What a worker holds while a sync is its own; older epochs are refused. */
export interface SyncLease {
  readonly syncId: string;
  /** A bigint, as text. */
  readonly epoch: string;
}

/** What a sync is about. */
export interface SyncContext {
  readonly kind: "tree" | "files" | "embed";
  readonly reason: "push" | "files" | "request" | "head_check" | "pending_chunks";
  /** The commit whose tree has been compared already; null before. */
  readonly commitSha: string | null;
  readonly project: SyncedProject;
}

/** A project as far as its syncs need to know it. */
export interface SyncedProject {
  readonly id: string;
  /** `owner/name`; null for a project whose files are sent directly. */
  readonly githubRepo: string | null;
  readonly defaultBranch: string;
  readonly includeGlobs: readonly string[];
  /** The commit whose tree the documents equal, as far as no later one has been begun. */
  readonly indexedCommit: string | null;
  readonly headCommit: string | null;
  /** Least of the splitters that made its chunks; null without documents, or where no tree is compared. */
  readonly chunkerVersion: number | null;
  /** Whether GitHub did not give some of that commit's files, and should be asked again. */
  readonly lacksFiles: boolean;
  /** The one that its documents are split and searched for; null when there is none at all. */
  readonly embedder: ChunkTarget | null;
  /** The one that it is switching to, or null. */
  readonly nextEmbedder: ChunkTarget | null;
}

/** What chunks are made for. */
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

/** A file that a sync has to deal with. */
export interface SyncFile {
  readonly seq: number;
  readonly action: "move" | "write" | "delete";
  readonly filePath: string;
  readonly blobSha: string | null;
  readonly sizeBytes: number;
  /** The document's text, where the file has it still, or one that was sent directly. Null: to be fetched. */
  readonly content: string | null;
  /** Whether the document has this content already, and chunks that fit it. */
  readonly isCurrent: boolean;
  /** How often a worker has begun with it, this time included. */
  readonly deliveries: number;
}

/** A document as it is stored. */
export interface StoredDocument {
  readonly title: string;
  readonly content: string;
  readonly checksum: string;
  readonly chunker_version: number;
  readonly front_matter: JsonObject;
}

/** A chunk as it is stored. */
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

/** A commit that the documents are to equal. */
export interface PlannedCommit {
  readonly sha: string;
  /** Of the GitHub that it is on. */
  readonly webUrl: string;
}

/** What a file has become. */
export type FileOutcome =
  | {
    readonly kind: "written";
    readonly document: StoredDocument;
    readonly embedder: string;
    readonly chunks: readonly StoredChunk[];
  }
  /** Deleted, or unchanged: there is nothing to store. */
  | { readonly kind: "done" }
  /** It cannot be indexed; the next files can. */
  | { readonly kind: "refused"; readonly error: ErrorBody };

/** The database as a sync's worker sees it: each call is one transaction. */
export interface SyncStore {
  /** The next sync that may run, or null. */
  claim(workerId: string): Promise<ClaimedSync | null>;
  /** Compares a commit's files with the documents, and answers how much there is to do. */
  plan(lease: SyncLease, commit: PlannedCommit, files: readonly TreeFile[]): Promise<number>;
  /** The next files, counted as begun. */
  begin(lease: SyncLease, limit: number): Promise<readonly SyncFile[]>;
  /** Applies what a file has become. A repeated call changes nothing. */
  apply(lease: SyncLease, seq: number, outcome: FileOutcome): Promise<void>;
  /** Renews leases. */
  renew(leases: readonly WorkLease[]): Promise<readonly LeaseState[]>;
  /**
   * Ends a sync that has done its work; a `headCommit` that needed no work is noted.
   *
   * @returns false when more has come in meanwhile.
   */
  finish(lease: SyncLease, headCommit: string | null): Promise<boolean>;
  /** It could not go on: it waits and is tried again, or fails. No error: there is just time to pass. */
  fail(
    lease: SyncLease,
    error: ErrorBody | null,
    retry: { readonly isRetryable: boolean; readonly retryAfterSeconds: number | null },
  ): Promise<"pending" | "failed">;
  /** Hands it on to the next worker. */
  yield(lease: SyncLease): Promise<void>;
  /** Asks for another worker, in an isolate of its own. */
  wakeSuccessor(): Promise<void>;
  /** The token for a project's repository; null for none. */
  githubToken(projectId: string): Promise<string | null>;
}
