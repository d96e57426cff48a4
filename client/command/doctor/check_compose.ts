import type { Manifest } from "../project/manifest.ts";
import { type Check, nothingIn } from "./check.ts";
import type { ComposeFiles } from "./compose_files.ts";

/** What the edge runtime grants an isolate where its main service sets nothing. */
const COMPILED_CPU = { softMs: 1_000, hardMs: 2_000 };
/** Defaults of the functions' own settings. */
const DEFAULT_CPU = { softMs: 1_000, hardMs: 2_000 };
const DEFAULT_WALL_CLOCK_SECONDS = 150;
const NEEDED_MEMORY_MB = 256;

/** Checks the settings of a self-hosted Supabase that decide whether functions can work. */
export function checkCompose(files: ComposeFiles, { schema }: Manifest): Check[] {
  const { variables, schemas, mainService } = files;
  return [
    {
      claim: "The functions authenticate their callers themselves",
      problem: variables["VERIFY_JWT"] === "true" ? "VERIFY_JWT is true" : null,
      remedy: "Set FUNCTIONS_VERIFY_JWT=false in .env: the database wakes the worker without a " +
        "token.",
    },
    nothingIn(
      "The functions have keys of the new form",
      ["SUPABASE_PUBLISHABLE_KEYS", "SUPABASE_SECRET_KEYS"].filter((name) =>
        !hasKey(variables[name])
      ),
      "Run utils/generate-keys.sh and utils/add-new-auth-keys.sh with --update-env.",
    ),
    checkGateway(files),
    checkDatabaseUrl(variables),
    {
      claim: `The REST API exposes the schema ${schema}`,
      problem: schemas === null || listed(schemas).includes(schema)
        ? null
        : `PGRST_DB_SCHEMAS is ${schemas}`,
      remedy: `Add ${schema} to PGRST_DB_SCHEMAS in .env, and restart the service rest.`,
    },
    ...mainService === null ? [missingMainService()] : checkIsolates(mainService, variables),
  ];
}

function missingMainService(): Check {
  return {
    claim: "The limits of the isolates are known",
    problem: "volumes/functions/main/index.ts does not exist",
    remedy: "Check there what the edge runtime grants each isolate.",
  };
}

function checkGateway({ services, variables }: ComposeFiles): Check {
  const url = variables["SUPABASE_URL"] ?? "";
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  const isInside = !host.includes(".") && host !== "localhost";
  return {
    claim: "The functions reach the gateway",
    problem: isInside && !services.includes(host)
      ? `SUPABASE_URL is "${url}", but there is no service "${host}"`
      : null,
    remedy: "Set SUPABASE_URL of the service functions to http://api-gw:8000 with Envoy as the " +
      "gateway, or to http://kong:8000 with Kong.",
  };
}

function checkDatabaseUrl(variables: ComposeFiles["variables"]): Check {
  const url = variables["SUPASWARM_DB_URL"] || variables["SUPABASE_DB_URL"] || "";
  const isPooled = /:6543\/|[?&]pgbouncer=true\b/.test(url) ||
    variables["SUPASWARM_DB_POOL_MODE"] === "transaction";
  return {
    claim: "Workers are notified of new tasks",
    problem: isPooled ? "the functions use a transaction pooler, behind which they poll" : null,
    remedy: "Set SUPASWARM_DB_URL of the service functions to a direct connection, such as " +
      "postgresql://postgres:<password>@db:5432/postgres.",
  };
}

function checkIsolates(source: string, variables: ComposeFiles["variables"]): Check[] {
  const memoryMb = numberOf(source, "memoryLimitMb");
  const wallClockMs = numberOf(source, "workerTimeoutMs");
  const expectedSeconds = Number(variables["SUPASWARM_WALL_CLOCK_SECONDS"]) ||
    DEFAULT_WALL_CLOCK_SECONDS;
  return [
    checkCpu(source, variables),
    {
      claim: "Isolates live as long as the functions expect",
      problem: wallClockMs === null || wallClockMs === 0 || wallClockMs >= expectedSeconds * 1_000
        ? null
        : `workerTimeoutMs is ${wallClockMs}, SUPASWARM_WALL_CLOCK_SECONDS is ${expectedSeconds}`,
      remedy: "Set workerTimeoutMs in volumes/functions/main/index.ts to 400_000, or the setting " +
        "to its seconds.",
    },
    {
      claim: `Isolates have ${NEEDED_MEMORY_MB} MB of memory`,
      problem: memoryMb === null || memoryMb >= NEEDED_MEMORY_MB
        ? null
        : `memoryLimitMb is ${memoryMb}`,
      remedy: `Set memoryLimitMb in volumes/functions/main/index.ts to ${NEEDED_MEMORY_MB}.`,
    },
  ];
}

/** The runtime's limits hold unless both are 0, also where the main service does not name them. */
function checkCpu(source: string, variables: ComposeFiles["variables"]): Check {
  const granted = {
    softMs: numberOf(source, "cpuTimeSoftLimitMs") ?? COMPILED_CPU.softMs,
    hardMs: numberOf(source, "cpuTimeHardLimitMs") ?? COMPILED_CPU.hardMs,
  };
  const isUnlimited = granted.softMs === 0 && granted.hardMs === 0;
  const isKnown = !Number.isNaN(granted.softMs + granted.hardMs);
  const expected = {
    softMs: settingOf(variables["SUPASWARM_CPU_SOFT_MS"], DEFAULT_CPU.softMs),
    hardMs: settingOf(variables["SUPASWARM_CPU_HARD_MS"], DEFAULT_CPU.hardMs),
  };
  const expectsMore = expected.hardMs === 0 || expected.softMs > granted.softMs ||
    expected.hardMs > granted.hardMs;
  return {
    claim: "Isolates have the CPU time that the functions expect",
    problem: isKnown && !isUnlimited && expectsMore
      ? `the runtime ends them after ${granted.softMs} and ${granted.hardMs} ms of CPU, but ` +
        `SUPASWARM_CPU_SOFT_MS is ${expected.softMs} and SUPASWARM_CPU_HARD_MS is ` +
        `${expected.hardMs}${expected.hardMs === 0 ? " (no limit)" : ""}`
      : null,
    remedy: "Pass cpuTimeSoftLimitMs: 0 and cpuTimeHardLimitMs: 0 to EdgeRuntime.userWorkers." +
      "create() in volumes/functions/main/index.ts, or unset both settings.",
  };
}

function settingOf(text: string | undefined, fallback: number): number {
  return text === undefined || text === "" ? fallback : Number(text);
}

/**
 * A number in the main service, which may be a product such as `1 * 60 * 1000`; NaN if it is another
 * expression, null if there is none.
 */
function numberOf(source: string, name: string): number | null {
  const code = source.replaceAll(/\/\/.*$|\/\*[^]*?\*\//gm, "");
  const [, value] = new RegExp(`\\b${name}\\s*[:=]\\s*([^,;\\n}]+)`).exec(code) ?? [];
  if (value === undefined) return null;
  const factors = value.split("*").map((factor) => Number(factor.trim().replaceAll("_", "")));
  return factors.reduce((total, factor) => total * factor);
}

/** Whether a dictionary of keys has one. */
function hasKey(text: string | undefined): boolean {
  try {
    return Object.values(JSON.parse(text || "{}")).some(Boolean);
  } catch {
    return false;
  }
}

function listed(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim());
}
