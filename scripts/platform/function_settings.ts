import { ENV_VARIABLES } from "../../shared/config/env_variables.ts";
import type { Environment, FunctionLimits } from "../../stack/stack_environment.ts";

/** Prefix of the product's own settings, which functions may read. */
const SETTING_PREFIX = "SUPASWARM_";

/**
 * The settings of the product that functions see. Keys of model providers and tools are not among
 * them; code reads those from Vault.
 */
export function functionSettings(
  environment: Environment,
  { wallClockMs, cpu }: FunctionLimits,
): Environment {
  const settings = Object.entries(environment).filter(([name]) => isSetting(name));
  return {
    SUPASWARM_ALLOW_LOOPBACK: "true",
    ...Object.fromEntries(settings),
    // The worker paces itself by the life that its isolate really has.
    SUPASWARM_WALL_CLOCK_SECONDS: String(Math.max(1, Math.floor(wallClockMs / 1_000))),
    SUPASWARM_CPU_SOFT_MS: String(cpu?.softMs ?? 0),
    SUPASWARM_CPU_HARD_MS: String(cpu?.hardMs ?? 0),
  };
}

function isSetting(name: string): boolean {
  return name.startsWith(SETTING_PREFIX) || name.startsWith("OTEL_") && name in ENV_VARIABLES;
}
