import type { Watch } from "./watch.ts";

/** A worker's lease on work; a later claim has a higher epoch and ends it. */
export interface WorkLease {
  readonly id: string;
  /** Opaque; only compared for equality. */
  readonly epoch: string;
}

/** The state of a lease. */
export interface LeaseState extends WorkLease {
  readonly state: "held" | "lost" | "cancelled" | "paused";
  /** Remaining seconds for which the work is watched. @default 0 */
  readonly watchedSeconds?: number;
}

/** Work that a worker has claimed. */
export interface ClaimedWork extends WorkLease {
  /** Must run on a worker that runs nothing else, until a step of it ends. @default false */
  readonly runsExclusively?: boolean;
}

/** What a worker claims. */
export interface ClaimRequest {
  readonly limit: number;
  /** Whether the worker may be given one piece that must run alone, and then nothing else. */
  readonly isIdle: boolean;
}

/** How a worker controls running work. */
export interface WorkControl {
  /** Aborts pending calls; its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the work is to be returned at its next step, because an operator paused it; its
   * reason is a `StopReason`. A call with an effect may end first.
   */
  readonly paused: AbortSignal;
  /** True when the worker claims no more. Work should be returned if possible. */
  readonly isDraining: () => boolean;
  /** True when nothing further may start, because the worker's time is nearly up. */
  readonly isClosing: () => boolean;
  /** Aborts, with the reason of {@linkcode signal}, when that is noticed: ends waits for a turn. */
  readonly closing: AbortSignal;
  /**
   * Reports that only the end of the work remains to be written, so that the next piece can start.
   */
  readonly settle: () => void;
  /** Reports that a step has ended: work that had to run alone until then may run beside other. */
  readonly progress: () => void;
  /**
   * Reserves CPU for one more streamed answer until the returned function is called. Null if the rest
   * of the worker's CPU does not allow it: then the answer arrives whole, which costs a fraction.
   */
  readonly reserveStream: () => (() => void) | null;
  /**
   * Reports that the work awaits an answer that arrives whole, until the returned function is called:
   * that costs no CPU, so the work is not returned when only CPU is short.
   */
  readonly awaitWhole: () => () => void;
  /** True when little of the worker's CPU is left: its streams must cost less to be completed. */
  readonly isShortOfCpu: () => boolean;
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
  readonly noun: "task" | "sync" | "webhook_message";
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
   * Whether the log says nothing of a run that ended so unless it is verbose: the work goes on, or its
   * end is logged already. @default false
   */
  isQuietEnd?(end: string): boolean;
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

/** A notification of the database to a running worker: new work, or a cancellation. */
export type WorkHint = "work" | "cancel";

/** A worker that listens. */
export interface WorkListener {
  readonly workerId: string;
  readonly onHint: (hint: WorkHint) => void;
}

/**
 * Calls `onHint` for each notification of the database until `signal` aborts. It is only a hint: a
 * missed one delays work but never loses it. Never throws.
 */
export type ListenForWork = (listener: WorkListener, signal: AbortSignal) => Promise<void>;
