import type { Dice } from "./dice.ts";
import type { Disturbances } from "./disturbances.ts";
import type { Journal } from "./journal.ts";
import type { Process, Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

/** Shares of the faults of a world, each from 0 to 1 of the calls it is about. */
export interface FaultShares {
  readonly death: number;
  readonly freeze: number;
  readonly database: number;
  readonly model: number;
  readonly tool: number;
  readonly wake: number;
  readonly cron: number;
  readonly cpu: number;
}

/** After the disturbed part of a world everything must end. */
export const NO_FAULTS: FaultShares = {
  death: 0,
  freeze: 0,
  database: 0,
  model: 0,
  tool: 0,
  wake: 0,
  cron: 0,
  cpu: 0,
};

/** What the parts of a world share. */
export interface WorldPorts {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly disturbances: Disturbances;
  readonly journal: Journal;
  readonly trace: Trace | null;
  /** The shares at this moment. */
  readonly shares: () => FaultShares;
  readonly dice: (actor: string) => Dice;
  /** Runs one transaction, and checks what must always hold. */
  readonly transact: (text: string, values: readonly unknown[], name: string) => Promise<unknown[]>;
  /** Reports something that must not happen. */
  readonly report: (violation: string, detail: string) => void;
}

/** A process whose calls of ports can fail. */
export interface DisturbedProcess extends Process {
  readonly dice: Dice;
  /** Uses up CPU, at whose limit the platform kills the process. */
  readonly compute: (durationMs: number) => void;
}
