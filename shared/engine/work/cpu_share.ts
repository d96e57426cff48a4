/**
 * The CPU that each of several concurrent pieces of work has used: all that run at the same time
 * share what is used meanwhile.
 */
export class CpuShare {
  #usedMs = 0;
  #perPieceMs = 0;

  /**
   * Notes that a piece begins or ends.
   *
   * @param usedMs CPU that all pieces have used so far.
   * @param count Pieces that have run since the last call.
   * @returns What one piece that ran all the time would have used. The difference between its end and
   * its beginning is what a piece has used.
   */
  note(usedMs: number, count: number): number {
    if (count > 0) this.#perPieceMs += (usedMs - this.#usedMs) / count;
    this.#usedMs = usedMs;
    return this.#perPieceMs;
  }
}
