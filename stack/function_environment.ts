import type { StackKeys } from "./keys/keys.ts";
import type { Environment } from "./stack_environment.ts";

/** The parts of a function's environment. */
export interface FunctionEnvironmentParts {
  readonly apiUrl: string;
  readonly dbUrl: string;
  readonly keys: StackKeys;
  /** The project's variables. The platform's variables override them. */
  readonly settings: Environment;
}

/**
 * Returns the environment of edge functions: the platform's variables and the project's settings.
 */
export function functionEnvironment(
  { apiUrl, dbUrl, keys, settings }: FunctionEnvironmentParts,
): Environment {
  return {
    ...settings,
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
