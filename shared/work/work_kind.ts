import type { StopReason } from "./stop_reason.ts";
import type { Watch } from "./watch.ts";

/** What a worker holds while a piece of work is its own; a later claim has a higher epoch and ends it. */
export interface WorkLease {
  readonly id: string;
  /** Opaque; only compared for equality. */
  readonly epoch: string;
}

/** What has become of a lease. */
export interface LeaseState extends WorkLease {
  readonly state: "held" | "lost" | "cancelled";
  /** For how many more seconds somebody watches the work. @default 0 */
  readonly watchedSeconds?: number;
}

/** A piece of work that a worker has got to do. */
export interface ClaimedWork extends WorkLease {
  /** Has to be done by a worker that does nothing else. @default false */
  readonly worksAlone?: boolean;
}

/**
 * What a claim does with work that has to be done alone, since a worker's life ended in the middle of
 * it: leaves it, takes one and nothing else, or takes it like any other.
 */
export type LoneWork = "skip" | "first" | "any";

/** What a worker asks for. */
export interface ClaimRequest {
  readonly limit: number;
  readonly lone: LoneWork;
  /** Whether some of it may wait in the worker until a slot is free. */
  readonly isAhead: boolean;
}

/** How a worker steers a piece of work that it does. */
export interface WorkControl {
  /** Aborts what is in flight; its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  /** True when the worker claims no more: what can be handed on, should be. */
  readonly isDraining: () => boolean;
  /** True when nothing further may begin, since the worker's time is nearly up. */
  readonly isClosing: () => boolean;
  /** Says that only the work's end is left to be written, so that the next piece may begin. */
  readonly settle: () => void;
  /** Whether somebody watches. */
  readonly watch: Watch;
}

/**
 * A kind of work, as workers know it. Its table and its fence are `private.create_work_kind()`'s; this
 * is the other half: how it is claimed, renewed and done. The runner does the rest: slots, heartbeats,
 * an isolate's lifetime, successors.
 */
export interface WorkKind<Work extends ClaimedWork = ClaimedWork> {
  /** Names it in the log: `task.run_ended`, with `task_id`. */
  readonly noun: string;
  /** @throws DATABASE_UNAVAILABLE */
  claim(workerId: string, request: ClaimRequest): Promise<readonly Work[]>;
  /**
   * Renews leases; also called without any, as a sign of life.
   *
   * @throws DATABASE_UNAVAILABLE
   */
  renew(workerId: string, leases: readonly WorkLease[]): Promise<readonly LeaseState[]>;
  /** Does the work as far as it goes, writes down how it ended, and says it. Never throws. */
  run(work: Work, control: WorkControl): Promise<string>;
  /**
   * Lets go of work that has not begun, and says how it ended. A kind that has it is claimed ahead of
   * free slots while its work is quick. @default nothing is claimed ahead
   */
  letGo?(work: Work, reason: StopReason): Promise<string>;
  /** Asks for another worker, in an isolate of its own. */
  wakeSuccessor(): Promise<void>;
  /** Notes that a worker has ended. */
  stopWorker?(workerId: string): Promise<void>;
}

/** What the database says while a worker runs: there is work, or some that runs was cancelled. */
export type WorkHint = "work" | "cancel";

/**
 * Calls `onHint` for whatever the database says until `signal` aborts. It is only a hint: a listener
 * that hears nothing costs time, never work. Never throws.
 */
export type ListenForWork = (
  onHint: (hint: WorkHint) => void,
  signal: AbortSignal,
) => Promise<void>;
