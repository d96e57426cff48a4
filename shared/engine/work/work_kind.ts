import type { StopReason } from "./stop_reason.ts";
import type { Watch } from "./watch.ts";

/** A worker's lease on work; a later claim has a higher epoch and ends it. */
export interface WorkLease {
  readonly id: string;
  /** Opaque; only compared for equality. */
  readonly epoch: string;
}

/** The state of a lease. */
export interface LeaseState extends WorkLease {
  readonly state: "held" | "lost" | "cancelled";
  /** Remaining seconds for which the work is watched. @default 0 */
  readonly watchedSeconds?: number;
}

/** Work that a worker has claimed. */
export interface ClaimedWork extends WorkLease {
  /** Must run on a worker that runs nothing else. @default false */
  readonly worksAlone?: boolean;
}

/**
 * How a claim treats work that must run alone because a worker's lifetime ended during it: skips
 * it, takes one and nothing else, or takes it like any other.
 */
export type LoneWork = "skip" | "first" | "any";

/** What a worker claims. */
export interface ClaimRequest {
  readonly limit: number;
  readonly lone: LoneWork;
  /** Whether some of it may wait in the worker until a slot is free. */
  readonly isAhead: boolean;
  /**
   * Slots for which the database may assign new work to the worker without a claim; null if the
   * worker does not listen. The next claim returns the assigned work.
   */
  readonly offeredSlots: number | null;
}

/** How a worker controls running work. */
export interface WorkControl {
  /** Aborts pending calls; its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  /** True when the worker claims no more. Work should be returned if possible. */
  readonly isDraining: () => boolean;
  /** True when nothing further may start, because the worker's time is nearly up. */
  readonly isClosing: () => boolean;
  /**
   * Reports that only the end of the work remains to be written, so that the next piece can start.
   */
  readonly settle: () => void;
  /** Whether the work is watched. */
  readonly watch: Watch;
}

/**
 * A kind of work, from a worker's view. `private.create_work_kind()` creates its table and fencing;
 * this defines how it is claimed, renewed and run. The runner does the rest: slots, heartbeats, the
 * isolate's lifetime, successors.
 */
export interface WorkKind<Work extends ClaimedWork = ClaimedWork> {
  /** Its name in the log: `task.run_ended`, with `task_id`. */
  readonly noun: string;
  /** @throws DATABASE_UNAVAILABLE */
  claim(workerId: string, request: ClaimRequest): Promise<readonly Work[]>;
  /**
   * Renews leases; also called without any, as a heartbeat.
   *
   * @throws DATABASE_UNAVAILABLE
   */
  renew(workerId: string, leases: readonly WorkLease[]): Promise<readonly LeaseState[]>;
  /** Runs the work as far as possible, records and returns how it ended. Never throws. */
  run(work: Work, control: WorkControl): Promise<string>;
  /**
   * Returns work that has not started, and reports how it ended. With this function, quick work is
   * claimed ahead of free slots. @default nothing is claimed ahead
   */
  letGo?(work: Work, reason: StopReason): Promise<string>;
  /**
   * Returns the work that was handed to the worker since its last claim, in less time than a claim.
   *
   * @throws DATABASE_UNAVAILABLE
   */
  fetchHanded?(workerId: string): Promise<readonly Work[]>;
  /** Ends the hand-over of new work to the worker, and returns what it has not fetched. */
  withdraw?(workerId: string): Promise<void>;
  /**
   * Milliseconds before the claim of this work in which it waited and no other work was claimed.
   *
   * @throws DATABASE_UNAVAILABLE
   */
  stalledMs?(works: readonly Work[]): Promise<number>;
  /** Requests another worker in a separate isolate. */
  wakeSuccessor(): Promise<void>;
  /** Records that a worker has ended. */
  stopWorker?(workerId: string): Promise<void>;
}

/**
 * A notification of the database to a running worker: new work, new work that has been handed to
 * this worker, or a cancellation.
 */
export type WorkHint = "work" | "handed" | "cancel";

/** A worker that listens. */
export interface WorkListener {
  readonly workerId: string;
  readonly onHint: (hint: WorkHint) => void;
  /** Called when notifications begin to be delivered, and when they end. */
  readonly onListening?: (isListening: boolean) => void;
}

/**
 * Calls `onHint` for each notification of the database until `signal` aborts. It is only a hint: a
 * missed one delays work but never loses it. Never throws.
 */
export type ListenForWork = (listener: WorkListener, signal: AbortSignal) => Promise<void>;
