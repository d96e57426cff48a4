/** An error that no further attempt can change: a step that throws it fails at once. */
export class NonRetryableError extends Error {
  override readonly name: string = "NonRetryableError";
}

/** A recorded step ended with an error. */
export class StepError extends NonRetryableError {
  override readonly name = "StepError";
  readonly step: string;
  /** A stable code of the platform; null for an error of the step's own code. */
  readonly code: string | null;

  constructor(step: string, message: string, code: string | null = null) {
    super(message);
    this.step = step;
    this.code = code;
  }
}
