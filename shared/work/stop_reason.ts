/** Why running work has to stop. */
export type StopKind =
  /** Another worker has it now; nothing may be written. */
  | "lost"
  /** It was cancelled. */
  | "cancelled"
  /** This worker ends; another goes on from the checkpoint. */
  | "yield";

/** Reason of the signal that stops a piece of work. */
export class StopReason extends Error {
  readonly kind: StopKind;
  /** It had a worker for itself, whose time is up: no other worker has more. */
  readonly isFinal: boolean;

  constructor(kind: StopKind, { isFinal = false } = {}) {
    super(`The work has to stop: ${kind}`);
    this.name = "StopReason";
    this.kind = kind;
    this.isFinal = isFinal;
  }
}
