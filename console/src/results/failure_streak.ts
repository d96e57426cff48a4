/** Decides when the feedback dialog opens automatically: once per failure streak of a tool. */
export class FailureStreaks {
  readonly #asked = new Set<string>();

  /**
   * Records the outcome of a call of a tool, `server.tool`; true if the user should be asked now.
   */
  note(tool: string, { isError, errorCode }: {
    readonly isError: boolean;
    readonly errorCode: string | null;
  }): boolean {
    if (!isError) {
      this.#asked.delete(tool);
      return false;
    }
    if (errorCode !== "EXCEEDED_RETRIES" || this.#asked.has(tool)) return false;
    this.#asked.add(tool);
    return true;
  }
}

/** The streaks of the signed-in user: another panel for the same tool does not ask again. */
export const failureStreaks = new FailureStreaks();
