import { writeLine } from "../../scripts/terminal.ts";

/** What the checks say about a mutant: how each noticed it, or null. Absent: it did not run. */
export interface Verdict {
  readonly name: string;
  readonly simulation?: string | null;
  readonly model?: string | null;
  readonly tests?: string | null;
}

/** Passes a verdict on to the process that collects them. */
export function writeVerdict(verdict: Verdict): void {
  writeLine(JSON.stringify(verdict));
}
