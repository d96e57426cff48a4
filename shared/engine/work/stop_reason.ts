/** Reasons to stop running work. */
export type StopKind =
  /** Another worker has the lease; nothing may be written. */
  | "lost"
  /** It was cancelled. */
  | "cancelled"
  /** An operator paused it; it continues from the checkpoint after the pause. */
  | "paused"
  /** This worker ends; another continues from the checkpoint. */
  | "yield";

/** Reason of the signal that stops work. */
export class StopReason extends Error {
  readonly kind: StopKind;
  /** It had a worker to itself whose time is up, so no other worker could finish it. */
  readonly isFinal: boolean;

  constructor(kind: StopKind, { isFinal = false } = {}) {
    super(`The work must stop: ${kind}`);
    this.name = "StopReason";
    this.kind = kind;
    this.isFinal = isFinal;
  }
}
