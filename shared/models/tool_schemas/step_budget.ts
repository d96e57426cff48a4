/** Processing a value took more steps than allowed. */
export class StepsSpentError extends Error {
  constructor() {
    super("it takes too many steps");
    this.name = "StepsSpentError";
  }
}

/**
 * The step limit for untrusted schemas and values. Steps are counted, not timed, so that the same
 * input gets the same verdict on a busy machine.
 */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** @throws StepsSpentError if fewer steps remain. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepsSpentError();
  }
}
