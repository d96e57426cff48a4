/** Why a running task has to let go. */
export type StopKind =
  /** Another worker has it now; nothing may be written. */
  | "lost"
  /** Its job was cancelled. */
  | "cancelled"
  /** This worker ends; another goes on from the checkpoint. */
  | "yield";

/** Reason of the signal that stops a task. */
export class StopReason extends Error {
  readonly kind: StopKind;
  /** The task had a worker for itself, whose time is up: no other worker has more. */
  readonly isFinal: boolean;

  constructor(kind: StopKind, { isFinal = false } = {}) {
    super(`The task has to stop: ${kind}`);
    this.name = "StopReason";
    this.kind = kind;
    this.isFinal = isFinal;
  }
}
