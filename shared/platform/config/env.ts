import type { z } from "../../vendor/zod.js";
import { SwarmError } from "../errors/swarm_error.ts";
import type { LogLevel } from "../log/logger.ts";
import { ENV_VARIABLES, type EnvVariable, type keySet } from "./env_variables.ts";
import { type PoolMode, withPoolMode } from "./pooling.ts";
import { type TelemetrySettings, toTelemetrySettings } from "./telemetry_settings.ts";

type Variables = typeof ENV_VARIABLES;
type ValueOf<V> = V extends EnvVariable<infer T> ? T : never;
type Values = { readonly [Name in keyof Variables]: ValueOf<Variables[Name]> | undefined };

const LEGACY_SECRET_KEY = "SUPABASE_SERVICE_ROLE_KEY";

/** The keys that authenticate requests to this project. */
export interface ApiKeys {
  readonly url: string;
  readonly publishableKeys: Readonly<Record<string, string>>;
  readonly secretKeys: Readonly<Record<string, string>>;
  /** A key set, or the URL that serves it. */
  readonly jwks: z.infer<typeof keySet> | URL;
}

/** Timing and limits of a worker. */
export interface WorkerSettings {
  readonly slots: number;
  readonly leaseSeconds: number;
  readonly heartbeatSeconds: number;
  readonly wallClockSeconds: number;
  readonly idleSeconds: number;
  readonly modelTimeoutSeconds: number;
  readonly toolSearchBytes: number;
}

/** The whole configuration from the environment. */
export interface Config {
  /** Marked with the mode of its pooler if that is set. */
  readonly databaseUrl: string;
  /** Absent if it is not set; the address may say it too. */
  readonly poolMode?: PoolMode;
  readonly apiKeys: ApiKeys;
  /** The project's URL as browsers reach it. */
  readonly publicUrl: string;
  readonly allowLoopback: boolean;
  /** Without a trailing slash. */
  readonly githubApiUrl: string;
  /** In addition to the project's own origin and loopback. */
  readonly allowedOrigins: readonly string[];
  readonly worker: WorkerSettings;
  /** Database connections of each function. Absent: as many as an isolate may have. */
  readonly connections?: number;
  /** CPU that an isolate may use over its lifetime; null if not limited. */
  readonly cpu: { readonly softMs: number; readonly hardMs: number } | null;
  readonly logLevel: LogLevel;
  /** Absent if no traces are exported. */
  readonly telemetry?: TelemetrySettings;
}

/**
 * Reads and validates the whole environment; the only code that reads it.
 *
 * @param read Returns a variable's text. @default Deno.env.get
 * @throws CONFIG_INVALID with the variable, the problem and the required format.
 */
export function readConfig(
  read: (name: string) => string | undefined = (name) => Deno.env.get(name),
): Config {
  const values = readValues(read);
  const url = required("SUPABASE_URL", values.SUPABASE_URL);
  const worker = readWorkerSettings(values);
  const telemetry = toTelemetrySettings(values);
  // The platform reserves names that begin with SUPABASE_, so a project cannot change its own.
  const databaseUrl = values.SUPASWARM_DB_URL ??
    required("SUPABASE_DB_URL", values.SUPABASE_DB_URL);
  const poolMode = values.SUPASWARM_DB_POOL_MODE;
  return {
    ...poolMode === undefined
      ? { databaseUrl }
      : { databaseUrl: withPoolMode(databaseUrl, poolMode), poolMode },
    apiKeys: {
      url,
      publishableKeys: values.SUPABASE_PUBLISHABLE_KEYS ?? {},
      secretKeys: readSecretKeys(values, read),
      // A set without keys, as Supabase's Compose files set it, would refuse every user.
      jwks: values.SUPABASE_JWKS?.keys.length
        ? values.SUPABASE_JWKS
        : new URL(`${url}/auth/v1/.well-known/jwks.json`),
    },
    publicUrl: values.SUPASWARM_PUBLIC_URL ?? url,
    allowLoopback: required("SUPASWARM_ALLOW_LOOPBACK", values.SUPASWARM_ALLOW_LOOPBACK),
    githubApiUrl: required("SUPASWARM_GITHUB_API_URL", values.SUPASWARM_GITHUB_API_URL),
    allowedOrigins: values.SUPASWARM_ALLOWED_ORIGINS ?? [],
    worker,
    logLevel: required("SUPASWARM_LOG_LEVEL", values.SUPASWARM_LOG_LEVEL),
    cpu: readCpuSettings(values),
    ...(telemetry === null ? {} : { telemetry }),
  };
}

/**
 * A project that never switched to the newer API keys has only legacy ones. Those are tokens signed
 * with a secret that functions do not get, so they cannot authenticate callers.
 */
function readSecretKeys(
  { SUPABASE_SECRET_KEYS: keys }: Values,
  read: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
  const hasKeys = keys !== undefined && Object.keys(keys).length > 0;
  if (!hasKeys && read(LEGACY_SECRET_KEY)) {
    throw new SwarmError(
      "PROJECT_KEYS_UNSUPPORTED",
      `Cannot read the configuration: the project has only legacy API keys (${LEGACY_SECRET_KEY}, ` +
        "no SUPABASE_SECRET_KEYS)",
      {
        hint: "Create publishable and secret API keys in the dashboard (Settings, API Keys), and " +
          "deploy the functions again.",
        details: { variable: "SUPABASE_SECRET_KEYS" },
      },
    );
  }
  return required("SUPABASE_SECRET_KEYS", hasKeys ? keys : undefined);
}

function readWorkerSettings(values: Values): WorkerSettings {
  const settings = {
    slots: required("SUPASWARM_WORKER_SLOTS", values.SUPASWARM_WORKER_SLOTS),
    leaseSeconds: required("SUPASWARM_LEASE_SECONDS", values.SUPASWARM_LEASE_SECONDS),
    heartbeatSeconds: required("SUPASWARM_HEARTBEAT_SECONDS", values.SUPASWARM_HEARTBEAT_SECONDS),
    wallClockSeconds: required("SUPASWARM_WALL_CLOCK_SECONDS", values.SUPASWARM_WALL_CLOCK_SECONDS),
    idleSeconds: required("SUPASWARM_IDLE_SECONDS", values.SUPASWARM_IDLE_SECONDS),
    modelTimeoutSeconds: required(
      "SUPASWARM_MODEL_TIMEOUT_SECONDS",
      values.SUPASWARM_MODEL_TIMEOUT_SECONDS,
    ),
    toolSearchBytes: required(
      "SUPASWARM_TOOL_SEARCH_BYTES",
      values.SUPASWARM_TOOL_SEARCH_BYTES,
    ),
  };
  if (settings.heartbeatSeconds * 2 > settings.leaseSeconds) {
    throw invalid(
      "SUPASWARM_HEARTBEAT_SECONDS",
      `is ${settings.heartbeatSeconds}, more than half of SUPASWARM_LEASE_SECONDS ` +
        `(${settings.leaseSeconds})`,
      `at most ${Math.floor(settings.leaseSeconds / 2)}`,
    );
  }
  return settings;
}

function readCpuSettings(values: Values): Config["cpu"] {
  const softMs = required("SUPASWARM_CPU_SOFT_MS", values.SUPASWARM_CPU_SOFT_MS);
  const hardMs = required("SUPASWARM_CPU_HARD_MS", values.SUPASWARM_CPU_HARD_MS);
  if (hardMs === 0) return null;
  if (softMs > hardMs) {
    throw invalid(
      "SUPASWARM_CPU_SOFT_MS",
      `is ${softMs}, more than SUPASWARM_CPU_HARD_MS (${hardMs})`,
      `at most ${hardMs}`,
    );
  }
  return { softMs, hardMs };
}

function readValues(read: (name: string) => string | undefined): Values {
  const entries = Object.entries(ENV_VARIABLES).map(([name, definition]) => {
    // An empty variable counts as unset, as in copied `.env` files.
    const given = read(name);
    const text = given?.trim() ? given : definition.defaultText;
    if (text === null) return [name, undefined];
    const parsed = definition.schema.safeParse(text);
    if (parsed.success) return [name, parsed.data];
    const problem = definition.isSecret ? "is malformed" : `is ${JSON.stringify(text)}`;
    throw invalid(name, problem, definition.wanted);
  });
  // The schema of each variable has parsed its value.
  return Object.fromEntries(entries) as Values;
}

function required<T>(name: keyof Variables, value: T | undefined): T {
  if (value !== undefined) return value;
  throw invalid(name, "is not set", ENV_VARIABLES[name].wanted);
}

function invalid(name: string, problem: string, wanted: string): SwarmError {
  return new SwarmError("CONFIG_INVALID", `Cannot read the configuration: ${name} ${problem}`, {
    hint: `Set ${name} to ${wanted}.`,
    details: { variable: name },
  });
}
