/** Work on a value took more steps than it may. */
export class StepsSpentError extends Error {
  constructor() {
    super("it takes too many steps");
    this.name = "StepsSpentError";
  }
}

/**
 * Steps that work on somebody else's schema and value may take. They are counted and not timed, so
 * that the same input is judged in the same way on a busy machine.
 */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** @throws StepsSpentError when that is more than is left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepsSpentError();
  }
}
