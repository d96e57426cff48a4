import { time } from "./virtual_globals.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

/** Most outlive their leases: another worker then has their tasks when they continue. */
const FREEZES = [
  "freezes for seconds",
  "freezes past its leases",
  "freezes past its leases",
] as const;

/** More than a quarter of what an isolate has; the last kills it. */
const COMPUTATIONS = ["computes for long", "computes for long", "computes without end"] as const;

/** Most calls are polls, during which nothing is at stake. */
const POLLS = /^(claim|fetch|heartbeat)/;

/**
 * Every call of a port passes here: the process may die or freeze before it.
 *
 * @returns false if it is dead; its calls never return.
 */
export function crossPort(process: DisturbedProcess, name: string, world: WorldPorts): boolean {
  if (process.isDead) return false;
  const { disturbances, trace } = world;
  const { dice } = process;
  const { death, freeze, cpu } = world.shares();
  const weight = POLLS.test(name) ? 0.2 : 2;
  const about = `${process.name} at ${name}`;
  if (disturbances.pick(dice, death * weight, about, ["dies"]) !== null) {
    trace?.add(process.name, `dies before ${name}`);
    process.isDead = true;
    return false;
  }
  const computation = disturbances.pick(dice, cpu * weight, about, COMPUTATIONS);
  // A poll takes a millisecond or two.
  process.compute(computation === null ? 1 : computation === "computes for long" ? 600 : 2_000);
  if (process.isDead) return false;
  const kind = disturbances.pick(dice, freeze * weight, about, FREEZES);
  const frozenMs = kind === "freezes for seconds"
    ? dice.int(1_000, 20_000)
    : dice.int(31_000, 50_000);
  if (kind !== null) {
    trace?.add(process.name, `freezes for ${frozenMs} ms before ${name}`);
    process.frozenUntilMs = time.ms + frozenMs;
  }
  return true;
}
