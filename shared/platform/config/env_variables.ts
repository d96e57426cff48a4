import { z } from "../../vendor/zod.js";
import { LOG_LEVELS } from "../log/logger.ts";
import { POOL_MODES } from "./pooling.ts";
import { withoutTrailing } from "../values/without_trailing.ts";

/** One environment variable: its purpose, format and parser. */
export interface EnvVariable<T> {
  /** Its purpose, including the unit of a number. */
  readonly purpose: string;
  /** The required format, for the error message. */
  readonly wanted: string;
  /** The default text; null if the variable may stay unset. */
  readonly defaultText: string | null;
  /** A secret's value never appears in an error. */
  readonly isSecret: boolean;
  readonly schema: z.ZodType<T, string>;
}

const postgresAddress = {
  wanted: "a postgres:// or postgresql:// address",
  isSecret: true,
  schema: z.url({ protocol: /^postgres(ql)?$/ }),
};
const keyDictionary = z.record(z.string().min(1), z.string().min(1));
/** A set of public keys. */
export const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Every variable that the functions read. The docs and `.env.example` are checked against this
 * list.
 */
export const ENV_VARIABLES = {
  SUPABASE_URL: variable({
    purpose: "Address of the Supabase project.",
    wanted: "an http or https address",
    schema: z.url({ protocol: /^https?$/ }).transform((url) => withoutTrailing(url, "/")),
  }),
  SUPABASE_DB_URL: variable({
    purpose: "Postgres connection string of role postgres.",
    ...postgresAddress,
  }),
  SUPABASE_PUBLISHABLE_KEYS: variable({
    purpose: "Publishable API keys by name.",
    wanted: 'a JSON object such as {"default": "sb_publishable_…"}',
    isSecret: true,
    schema: jsonText(keyDictionary),
  }),
  SUPABASE_SECRET_KEYS: variable({
    purpose: "Secret API keys by name.",
    wanted: 'a JSON object such as {"default": "sb_secret_…"}',
    isSecret: true,
    schema: jsonText(keyDictionary),
  }),
  SUPABASE_JWKS: variable({
    purpose: "Public keys that verify user tokens. Default: fetched from the project.",
    wanted: 'a JSON key set such as {"keys": […]}',
    schema: jsonText(z.preprocess(toKeySet, keySet)),
  }),
  SUPASWARM_PUBLIC_URL: variable({
    purpose: "Address of the project as browsers reach it. Default: SUPABASE_URL.",
    wanted: "an http or https address",
    schema: z.url({ protocol: /^https?$/ }).transform((url) => withoutTrailing(url, "/")),
  }),
  SUPASWARM_DB_URL: variable({
    purpose:
      "Postgres connection string that the functions use, such as a pooler's. Default: SUPABASE_DB_URL.",
    ...postgresAddress,
  }),
  SUPASWARM_DB_POOL_MODE: variable({
    purpose:
      "Mode of the pooler in front of the database that the functions use. Default: by its address (port 6543 and pgbouncer=true: transaction).",
    wanted: POOL_MODES.join(" or "),
    schema: z.enum(POOL_MODES),
  }),
  SUPASWARM_ALLOW_LOOPBACK: variable({
    purpose: "Whether registered tools may be on loopback and private addresses.",
    wanted: "true or false",
    defaultText: "false",
    schema: z.enum(["true", "false"]).transform((text) => text === "true"),
  }),
  SUPASWARM_GITHUB_API_URL: variable({
    purpose: "Address of GitHub's REST API; for an enterprise server it ends with /api/v3.",
    wanted: "an http or https address",
    defaultText: "https://api.github.com",
    schema: z.url({ protocol: /^https?$/ }).transform((url) => withoutTrailing(url, "/")),
  }),
  SUPASWARM_ALLOWED_ORIGINS: variable({
    purpose:
      "Web origins whose pages may call the MCP endpoint and, in the embedded stack, every local port, in addition to the project's own and loopback.",
    wanted: "origins such as https://app.example.com, separated by commas",
    defaultText: "",
    schema: z.string().transform(listItems).pipe(z.array(z.string().refine(isOrigin))),
  }),
  SUPASWARM_WORKER_SLOTS: variable({
    purpose: "Maximum tasks that one worker runs in parallel; its CPU may allow fewer.",
    defaultText: "100",
    ...wholeNumber("a whole number", 1, 1_000),
  }),
  SUPASWARM_LEASE_SECONDS: variable({
    purpose: "Lease of a claimed task without a heartbeat, in seconds.",
    defaultText: "30",
    ...wholeNumber("a whole number of seconds", 5, 600),
  }),
  SUPASWARM_HEARTBEAT_SECONDS: variable({
    purpose: "Seconds between two heartbeats; at most half the lease.",
    defaultText: "10",
    ...wholeNumber("a whole number of seconds", 1, 300),
  }),
  SUPASWARM_WALL_CLOCK_SECONDS: variable({
    purpose:
      "Maximum lifetime of a function instance on the platform, in seconds (150 free, 400 paid).",
    defaultText: "150",
    ...wholeNumber("a whole number of seconds", 1, 86_400),
  }),
  SUPASWARM_CPU_SOFT_MS: variable({
    purpose: "CPU time in milliseconds after which an instance gets no new requests.",
    defaultText: "1000",
    ...wholeNumber("a whole number of milliseconds", 0, 3_600_000),
  }),
  SUPASWARM_CPU_HARD_MS: variable({
    purpose:
      "Milliseconds of CPU at which the platform ends a function instance; 0 means no limit.",
    defaultText: "2000",
    ...wholeNumber("a whole number of milliseconds", 0, 3_600_000),
  }),
  SUPASWARM_IDLE_SECONDS: variable({
    purpose: "Seconds without work after which a worker ends.",
    defaultText: "20",
    ...wholeNumber("a whole number of seconds", 1, 3_600),
  }),
  SUPASWARM_MODEL_TIMEOUT_SECONDS: variable({
    purpose: "Seconds that one model call may take.",
    defaultText: "90",
    ...wholeNumber("a whole number of seconds", 1, 3_600),
  }),
  SUPASWARM_LOG_LEVEL: variable({
    purpose: "Least severity of the lines that functions log.",
    wanted: LOG_LEVELS.join(", "),
    defaultText: "info",
    schema: z.enum(LOG_LEVELS),
  }),
  SUPASWARM_TOOL_SEARCH_BYTES: variable({
    purpose:
      "Bytes of an agent's tool definitions above which models get a search tool and the likely tools instead of all.",
    defaultText: "40000",
    ...wholeNumber("a whole number of bytes", 0, 1_000_000_000),
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable({
    purpose: "Base address of an OTLP/HTTP collector. Without it no traces are exported.",
    wanted: "an http or https address",
    schema: z.url({ protocol: /^https?$/ }),
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable({
    purpose: "Full address for traces, instead of the base address with /v1/traces.",
    wanted: "an http or https address",
    schema: z.url({ protocol: /^https?$/ }),
  }),
  OTEL_EXPORTER_OTLP_HEADERS: variable({
    purpose: "Headers of each export, such as an API key.",
    wanted: "a list such as name=value,other=value, with percent-encoded values",
    isSecret: true,
    schema: keyValueList(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string().regex(/^[ -~]*$/)),
  }),
  OTEL_SERVICE_NAME: variable({
    purpose:
      "Name of the service in traces. Default: service.name of the attributes, or supaswarm.",
    wanted: "a text of at most 255 characters",
    schema: z.string().max(255),
  }),
  OTEL_RESOURCE_ATTRIBUTES: variable({
    purpose: "Attributes of every exported span.",
    wanted: "a list such as deployment.environment.name=production,team=search",
    schema: keyValueList(z.string().min(1), z.string()),
  }),
} as const;

/** Also a list of keys, and the empty values of templates. */
function toKeySet(set: unknown): unknown {
  if (Array.isArray(set)) return { keys: set };
  return JSON.stringify(set ?? {}) === "{}" ? { keys: [] } : set;
}

function listItems(text: string): string[] {
  return text.split(",").map((item) => item.trim()).filter((item) => item !== "");
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function variable<T>(
  definition:
    & Pick<EnvVariable<T>, "purpose" | "wanted" | "schema">
    & Partial<Pick<EnvVariable<T>, "defaultText" | "isSecret">>,
): EnvVariable<T> {
  return { defaultText: null, isSecret: false, ...definition };
}

function wholeNumber(noun: string, min: number, max: number) {
  return {
    wanted: `${noun} from ${min} to ${max}`,
    schema: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(min).max(max)),
  };
}

/** OpenTelemetry's form of a list: `key=value,key=value`, values percent-encoded. */
function keyValueList(
  key: z.ZodType<string, string>,
  value: z.ZodType<string>,
): z.ZodType<Record<string, string>, string> {
  return z.string().transform((text, context): unknown => {
    const members = text.split(",").map((member) => member.trim()).filter((member) =>
      member !== ""
    );
    try {
      return Object.fromEntries(members.map((member) => {
        const at = member.indexOf("=");
        if (at < 1) throw new SyntaxError("no key");
        return [member.slice(0, at).trim(), decodeURIComponent(member.slice(at + 1).trim())];
      }));
    } catch {
      context.addIssue({ code: "custom", message: "not a list of key=value" });
      return z.NEVER;
    }
  }).pipe(z.record(key, value));
}

function jsonText<T>(schema: z.ZodType<T>): z.ZodType<T, string> {
  return z.string().transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: "custom", message: "not JSON" });
      return z.NEVER;
    }
  }).pipe(schema);
}
