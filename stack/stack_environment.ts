import { parseEnv } from "node:util";
import { join } from "node:path";
import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { withoutEmpty } from "../shared/platform/values/without_empty.ts";
import type { CpuLimits } from "./functions/cpu_watch.ts";

/** Variables by name. */
export type Environment = Readonly<Record<string, string>>;

const WALL_CLOCK_VARIABLE = "SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS";
const START_LIMIT_VARIABLE = "SUPASWARM_START_LIMIT_SECONDS";
const CPU_SOFT_VARIABLE = "SUPASWARM_CPU_SOFT_MS";
const CPU_HARD_VARIABLE = "SUPASWARM_CPU_HARD_MS";
/** Many times what a step takes on a slow machine. */
const DEFAULT_START_LIMIT_SECONDS = 180;
/** The hosted platform's limit of the paid plans. */
const DEFAULT_WALL_CLOCK_SECONDS = 400;
/** The hosted platform's limits of all plans. */
const DEFAULT_CPU_SOFT_MS = 1_000;
const DEFAULT_CPU_HARD_MS = 2_000;

/** What an isolate may use over its lifetime. */
export interface FunctionLimits {
  readonly wallClockMs: number;
  /** Null: CPU time is unlimited. */
  readonly cpu: CpuLimits | null;
}

/**
 * Reads the variables of the project's `.env` and of this process, which win. An empty variable
 * counts as unset, because a copy of `.env.example` has empty ones.
 */
export async function readEnvironment(projectRoot: string): Promise<Environment> {
  return { ...await readEnvFile(projectRoot), ...withoutEmpty(Deno.env.toObject()) };
}

/** Reads the variables of the project's `.env` that have a value. */
export async function readEnvFile(projectRoot: string): Promise<Environment> {
  return withoutEmpty(await readVariables(join(projectRoot, ".env")));
}

/**
 * Reads the variables of the project's functions from `supabase/functions/.env`, as the Supabase CLI
 * does: without names that start with `SUPABASE_`, which belong to the platform.
 */
export async function readFunctionVariables(projectRoot: string): Promise<Environment> {
  const variables = await readVariables(join(projectRoot, "supabase", "functions", ".env"));
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !name.startsWith("SUPABASE_")),
  );
}

/** The variables of a file; none without it. */
async function readVariables(path: string): Promise<Environment> {
  const text = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  return Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]]
    ),
  );
}

/**
 * Reads the limits of an isolate. A hard CPU limit of 0 removes both CPU limits.
 *
 * @throws SwarmError CONFIG_INVALID when a variable is malformed, or when the soft limit is above
 * the hard limit.
 */
export function functionLimits(environment: Environment): FunctionLimits {
  const seconds = readPositive(environment, WALL_CLOCK_VARIABLE, DEFAULT_WALL_CLOCK_SECONDS);
  const softMs = readNumber(environment, CPU_SOFT_VARIABLE, DEFAULT_CPU_SOFT_MS);
  const hardMs = readNumber(environment, CPU_HARD_VARIABLE, DEFAULT_CPU_HARD_MS);
  if (hardMs > 0 && softMs > hardMs) {
    throw unreadable(CPU_SOFT_VARIABLE, `it is ${softMs}, more than ${CPU_HARD_VARIABLE}`);
  }
  return { wallClockMs: seconds * 1_000, cpu: hardMs === 0 ? null : { softMs, hardMs } };
}

/**
 * Reads how long a step of a start may go on without progress.
 *
 * @throws SwarmError CONFIG_INVALID when the variable is malformed.
 */
export function startLimitMs(environment: Environment): number {
  return readPositive(environment, START_LIMIT_VARIABLE, DEFAULT_START_LIMIT_SECONDS) * 1_000;
}

function readPositive(environment: Environment, name: string, fallback: number): number {
  const value = readNumber(environment, name, fallback);
  if (value === 0) throw unreadable(name, "it is '0'");
  return value;
}

function readNumber(environment: Environment, name: string, fallback: number): number {
  const text = environment[name];
  const value = text ? Number(text) : fallback;
  if (Number.isFinite(value) && value >= 0) return value;
  throw unreadable(name, `it is '${text}'`);
}

function unreadable(name: string, problem: string): SwarmError {
  return new SwarmError("CONFIG_INVALID", `Cannot read ${name}: ${problem}`, {
    hint: "Set it to a positive number in the unit at the end of its name, or remove it.",
  });
}
