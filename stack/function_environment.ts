import type { StackKeys } from "./keys/keys.ts";
import type { Environment } from "./stack_environment.ts";

/** What a function's environment is made from. */
export interface FunctionEnvironmentParts {
  readonly apiUrl: string;
  readonly dbUrl: string;
  readonly keys: StackKeys;
  /** The project's own variables; those of the platform come before them. */
  readonly settings: Environment;
}

/** What edge functions see: the platform's default variables and the project's settings. */
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
