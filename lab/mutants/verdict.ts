import { writeLine } from "../../scripts/terminal.ts";
import { type Mutant, nameOf } from "./mutant.ts";

/** In the order in which they run: the fastest first. */
export const CHECKS = ["pgtap", "model", "simulation", "tests"] as const;
export type Check = typeof CHECKS[number];

/** What a check says about a mutant. */
export interface Verdict {
  readonly name: string;
  readonly check: Check;
  /** What noticed it, or null. */
  readonly noticedBy: string | null;
}

/** Passes a verdict on to the process that collects them. */
export function writeVerdict(verdict: Verdict): void {
  writeLine(JSON.stringify(verdict));
}

/** The mutants that a script of checks is to judge. Their names are its last argument. */
export function askedFor<T extends Mutant>(mutants: readonly T[]): T[] {
  const names = new Set<string>(JSON.parse(Deno.args.at(-1) ?? "[]"));
  return mutants.filter((mutant) => names.has(nameOf(mutant)));
}
