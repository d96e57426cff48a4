/** Decides when the feedback modal opens by itself: once for each streak of failures of a tool. */
export class FailureStreaks {
  readonly #asked = new Set<string>();

  /** Notes how a call of a tool, `server.tool`, ended; true when its user is to be asked now. */
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

/** The streaks of whoever is signed in: another panel for the same tool does not ask again. */
export const failureStreaks = new FailureStreaks();
