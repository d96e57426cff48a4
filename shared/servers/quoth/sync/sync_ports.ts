import type { Logger } from "../../../platform/log/logger.ts";
import type { Clock } from "../../../platform/isolate/clock.ts";
import type { GitHub } from "../github/github_port.ts";
import type { SplitDocument, SplitOptions } from "../markdown/split_markdown.ts";
import type { ChunkStore } from "./chunk_store.ts";
import type { CpuBudget } from "./cpu_budget.ts";
import type { EmbedPart } from "./embed_part.ts";
import type { SyncStore } from "./sync_store.ts";

/** The dependencies of the sync worker. */
export interface SyncPorts {
  readonly store: SyncStore;
  readonly chunks: ChunkStore;
  /** GitHub with a token; null for anonymous access. */
  readonly openGitHub: (token: string | null) => GitHub;
  readonly split: (source: string, options: SplitOptions) => Promise<SplitDocument>;
  readonly embedPart: EmbedPart;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The remaining budget of a run, and its abort signal. */
export interface SyncRun {
  readonly budget: CpuBudget;
  /** Aborts when the isolate ends or the lease is lost. */
  readonly signal: AbortSignal;
}

/** How a run ended: done, released with work left, waiting, failed, or lost to another worker. */
export type SyncEnd = "finished" | "yielded" | "waiting" | "failed" | "lost";
