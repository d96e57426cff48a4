import { ENV_VARIABLES } from "../../shared/platform/config/env_variables.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import {
  type Environment,
  type FunctionLimits,
  functionLimits,
} from "../../stack/stack_environment.ts";
import { withoutEmpty } from "../../shared/platform/values/without_empty.ts";

/** Prefix of the product's own settings, which functions may read. */
const SETTING_PREFIX = "SUPASWARM_";
/** The functions of a stack always use the stack's database. */
const DATABASE_VARIABLES: readonly string[] = ["SUPASWARM_DB_URL", "SUPASWARM_DB_POOL_MODE"];

/**
 * Returns the product's settings for functions. They do not include keys of model providers and
 * tools, which code reads from Vault.
 *
 * @param db The kind or the address of the stack's database.
 */
export function functionSettings(
  environment: Environment,
  { wallClockMs, cpu }: FunctionLimits,
  db: string,
): Environment {
  const settings = Object.entries(withoutEmpty(environment)).filter(([name]) => isSetting(name));
  return {
    SUPASWARM_ALLOW_LOOPBACK: "true",
    ...Object.fromEntries(settings),
    // The worker plans its runs by the real lifetime of its isolate.
    SUPASWARM_WALL_CLOCK_SECONDS: String(Math.max(1, Math.floor(wallClockMs / 1_000))),
    SUPASWARM_CPU_SOFT_MS: String(cpu?.softMs ?? 0),
    SUPASWARM_CPU_HARD_MS: String(cpu?.hardMs ?? 0),
    ...poolModeOf(db),
  };
}

/** All connections share the only session of the embedded database. */
export function poolModeOf(databaseKind: string): Environment {
  return databaseKind === "pglite" ? { SUPASWARM_DB_POOL_MODE: "transaction" } : {};
}

/**
 * Refuses values that the functions would refuse, before anything is started.
 *
 * @throws SwarmError CONFIG_INVALID with the name of the variable.
 */
export function checkSettings(environment: Environment): void {
  const settings = functionSettings(environment, functionLimits(environment), "pglite");
  readConfig((name) => ({ ...settings, ...PLATFORM_VARIABLES })[name]);
}

/** Placeholders for the variables that the stack sets, which are always valid. */
const PLATFORM_VARIABLES: Environment = {
  SUPABASE_URL: "http://127.0.0.1",
  SUPABASE_DB_URL: "postgresql://127.0.0.1/postgres",
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_unused"}',
};

function isSetting(name: string): boolean {
  if (DATABASE_VARIABLES.includes(name)) return false;
  return name.startsWith(SETTING_PREFIX) || name.startsWith("OTEL_") && name in ENV_VARIABLES;
}
