import { parseEnv } from "node:util";
import { join } from "node:path";
import { ENV_VARIABLES } from "../../shared/config/env_variables.ts";
import { SwarmError } from "../../shared/errors/swarm_error.ts";
import type { StackKeys } from "./keys/keys.ts";

/** Variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** Prefix of the product's own settings, which functions may read. */
const SETTING_PREFIX = "SUPASWARM_";

const WALL_CLOCK_VARIABLE = "SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS";
/** The hosted platform's limit of the paid plans. */
const DEFAULT_WALL_CLOCK_SECONDS = 400;

/** The variables of the project's `.env` with those of this process before them. */
export async function readEnvironment(projectRoot: string): Promise<Environment> {
  const text = await Deno.readTextFile(join(projectRoot, ".env")).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  const fromFile = Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]
  );
  return { ...Object.fromEntries(fromFile), ...Deno.env.toObject() };
}

/** What a function's environment is made from. */
export interface FunctionEnvironmentParts {
  readonly apiUrl: string;
  readonly dbUrl: string;
  readonly keys: StackKeys;
  readonly environment: Environment;
}

/**
 * What edge functions see: the platform's default variables and the product's settings. Keys of
 * model providers and tools are not among them; code reads those from Vault.
 */
export function functionEnvironment(parts: FunctionEnvironmentParts): Environment {
  const { apiUrl, dbUrl, keys, environment } = parts;
  const settings = Object.entries(environment).filter(([name]) => isSetting(name));
  return {
    SUPASWARM_ALLOW_LOOPBACK: "true",
    ...Object.fromEntries(settings),
    // The worker paces itself by the life that its isolate really has.
    SUPASWARM_WALL_CLOCK_SECONDS: String(
      Math.max(1, Math.floor(functionWallClockMs(environment) / 1_000)),
    ),
    SUPABASE_URL: apiUrl,
    SUPABASE_DB_URL: dbUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: keys.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: keys.secretKey }),
    SUPABASE_JWKS: JSON.stringify(keys.jwks),
    SUPABASE_ANON_KEY: keys.publishableKey,
    SUPABASE_SERVICE_ROLE_KEY: keys.secretKey,
    SB_REGION: "local",
  };
}

function isSetting(name: string): boolean {
  return name.startsWith(SETTING_PREFIX) || name.startsWith("OTEL_") && name in ENV_VARIABLES;
}

/**
 * The wall clock of a function's isolate in milliseconds.
 *
 * @throws SwarmError CONFIG_INVALID when the variable is no positive number.
 */
export function functionWallClockMs(environment: Environment): number {
  const text = environment[WALL_CLOCK_VARIABLE];
  const seconds = text ? Number(text) : DEFAULT_WALL_CLOCK_SECONDS;
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1_000;
  throw new SwarmError("CONFIG_INVALID", `Cannot read ${WALL_CLOCK_VARIABLE}: it is '${text}'`, {
    hint: "Give a positive number of seconds, such as 400, or leave it out.",
  });
}
