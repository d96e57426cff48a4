/** A longer gap between two readings of the clock means that the thread had no core. */
const GAP_MS = 0.05;
/** Computing after which earlier samples count half: other programs come and go within seconds. */
const REMEMBERED_MS = 10;
/** With less, a sample ends. */
const LEAST_SHARE = 0.05;
/** For a clock that stands still. */
const MAX_READINGS = 1_000_000;
/** After so many gaps with nothing between them, the clock shows only coarse steps. */
const COARSE_STEPS = 3;
/** As if a sample of this length without other programs had been taken first. */
const ASSUMED_MS = 0.5;

/**
 * The share of a thread's turns in which it has a core, because turns become longer while other
 * programs compete for it.
 *
 * It is sampled by computing: where the clock jumps in a loop that does nothing but read it, another
 * program ran. The duration of any other computation does not say which part of it was computing.
 */
export class CoreShare {
  readonly #nowMs: () => number;
  #computedMs = ASSUMED_MS;
  #passedMs = ASSUMED_MS;
  /** Gaps since the last sample that saw the thread compute. */
  #gapCount = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Above 0 and at most 1. */
  get value(): number {
    return this.#computedMs / this.#passedMs;
  }

  /** False once the clock has shown only coarse steps or none, which say nothing of the share. */
  get isMeasurable(): boolean {
    return this.#gapCount < COARSE_STEPS;
  }

  /**
   * Computes until the thread has had a core for `durationMs`, or has waited long for one; with a
   * coarse clock, until that time has passed.
   */
  compute(durationMs: number): void {
    const beganAtMs = this.#nowMs();
    let lastMs = beganAtMs;
    let computedMs = 0;
    for (let reading = 0; reading < MAX_READINGS; reading++) {
      const nowMs = this.#nowMs();
      if (nowMs - lastMs < GAP_MS) computedMs += nowMs - lastMs;
      else this.#gapCount++;
      lastMs = nowMs;
      if (computedMs >= durationMs || nowMs - beganAtMs > durationMs / LEAST_SHARE) break;
      const isCoarse = computedMs === 0 && !this.isMeasurable;
      if (isCoarse && nowMs - beganAtMs >= durationMs) break;
    }
    const passedMs = lastMs - beganAtMs;
    if (computedMs > 0) {
      this.#gapCount = 0;
      this.#note(computedMs, passedMs);
    } else if (passedMs === 0) this.#gapCount = COARSE_STEPS;
  }

  #note(computedMs: number, passedMs: number): void {
    const kept = 0.5 ** (computedMs / REMEMBERED_MS);
    this.#computedMs = this.#computedMs * kept + computedMs;
    this.#passedMs = this.#passedMs * kept + passedMs;
  }
}
