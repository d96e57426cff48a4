import { slowness } from "../../scripts/test/cpu_time.ts";

let limits: { readonly softMs: number; readonly hardMs: number } | undefined;

/**
 * The hosted platform's CPU limits of an isolate, 1 s and 2 s, as the time in which this machine
 * computes as much as a usual one does in theirs. Measured once for each process.
 */
export function hostedCpuLimits(): { readonly softMs: number; readonly hardMs: number } {
  if (limits === undefined) {
    const times = slowness();
    limits = { softMs: Math.round(1_000 * times), hardMs: Math.round(2_000 * times) };
  }
  return limits;
}
