/**
 * Time and randomness of this process, virtual while a world runs. PGlite reads both through these
 * globals. Import this module first: others may keep references to what it replaces.
 */
import nodeCrypto from "node:crypto";
import { seededRandom } from "../../scripts/seeded_random.ts";

/** The process's own clock, in milliseconds. */
export const realNowMs: () => number = performance.now.bind(performance);

const RealDate = Date;
const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
};

/** The date of all worlds: the database is built at it, so that its partitions fit. */
export const BIRTH_MS = RealDate.UTC(2026, 10, 24);

/** Virtual time in milliseconds since 1970. */
export const time = { ms: BIRTH_MS };

/** What timers become in a world. */
export interface VirtualTimers {
  /** Calls back after a delay. @returns a function that cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

let random: () => number = seededRandom(0);
let timers: VirtualTimers | null = null;
/** The timers of the current world, by id. */
const cancels = new Map<number, () => void>();
/** Above the ids of real timers. */
let lastTimer = 1_000_000_000;

/** Restarts this process's randomness from a seed. */
export function seedRandomness(seed: number): void {
  random = seededRandom(seed);
}

/** Fills a view with bytes of the current seed. */
export function fillRandomly<View extends ArrayBufferView>(view: View): View {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let index = 0; index < bytes.length; index++) bytes[index] = random() * 256;
  return view;
}

/** Lets timers of the code under test run in virtual time, until it is called with null. */
export function useTimers(virtual: VirtualTimers | null): void {
  timers = virtual;
  cancels.clear();
}

/** Lets all code run that waits for nothing but promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}

class VirtualDate extends RealDate {
  constructor(...args: unknown[]) {
    super(...(args.length === 0 ? [time.ms] : args) as [number]);
  }
  static override now(): number {
    return time.ms;
  }
}

function setVirtualTimeout(run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) {
  if (timers === null) return real.setTimeout(run, delayMs, ...args);
  const id = ++lastTimer;
  cancels.set(id, timers.after(delayMs, () => (cancels.delete(id), run(...args))));
  return id;
}

function clearVirtualTimeout(id: unknown): void {
  const cancel = cancels.get(id as number);
  if (cancel === undefined) return real.clearTimeout(id as number);
  cancels.delete(id as number);
  cancel();
}

function randomUuid(): string {
  const bytes = fillRandomly(new Uint8Array(16));
  bytes[6] = (bytes[6] ?? 0) & 0x0f | 0x40;
  bytes[8] = (bytes[8] ?? 0) & 0x3f | 0x80;
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

Object.assign(globalThis, {
  Date: VirtualDate,
  setTimeout: setVirtualTimeout,
  clearTimeout: clearVirtualTimeout,
});
AbortSignal.timeout = (delayMs: number) => {
  const controller = new AbortController();
  setVirtualTimeout(() => controller.abort(new DOMException("timed out", "TimeoutError")), delayMs);
  return controller.signal;
};
performance.now = () => time.ms - BIRTH_MS;
Math.random = () => random();
Object.assign(Object.getPrototypeOf(crypto), {
  getRandomValues: fillRandomly,
  randomUUID: randomUuid,
});
Object.assign(nodeCrypto, { randomFillSync: fillRandomly });
// The real ones answer from another thread, at a moment that no seed decides.
Object.assign(Object.getPrototypeOf(crypto.subtle), {
  importKey: (_format: string, bytes: Uint8Array) => Promise.resolve({ bytes }),
  sign: (_algorithm: unknown, { bytes }: { bytes: Uint8Array }, data: Uint8Array) =>
    Promise.resolve(
      new Uint8Array(nodeCrypto.createHmac("sha256", bytes).update(data).digest()).buffer,
    ),
});
