import { z } from "zod";

/** One environment variable: what it is for, which form it takes, how it is parsed. */
export interface EnvVariable<T> {
  /** What it sets; names the unit of a number. */
  readonly purpose: string;
  /** The form an operator has to give, as it stands in the error. */
  readonly wanted: string;
  /** The text used when the variable is unset; null when it may stay unset. */
  readonly defaultText: string | null;
  /** A secret's value is never repeated in an error. */
  readonly isSecret: boolean;
  readonly schema: z.ZodType<T, string>;
}

const keyDictionary = z.record(z.string().min(1), z.string().min(1));
/** A set of public keys. */
export const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** Every variable that the functions read. The docs and `.env.example` are checked against it. */
export const ENV_VARIABLES = {
  SUPABASE_URL: variable({
    purpose: "Address of the Supabase project.",
    wanted: "an http or https address",
    schema: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, "")),
  }),
  SUPABASE_DB_URL: variable({
    purpose: "Postgres connection string of role postgres.",
    wanted: "a postgres:// or postgresql:// address",
    isSecret: true,
    schema: z.url({ protocol: /^postgres(ql)?$/ }),
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
    purpose: "Public keys that user tokens are verified with; unset: fetched from the project.",
    wanted: 'a JSON key set such as {"keys": […]}',
    schema: jsonText(z.preprocess((set) => Array.isArray(set) ? { keys: set } : set, keySet)),
  }),
  SUPASWARM_ALLOW_LOOPBACK: variable({
    purpose: "Whether registered tools may live on loopback and private addresses.",
    wanted: "true or false",
    defaultText: "false",
    schema: z.enum(["true", "false"]).transform((text) => text === "true"),
  }),
  SUPASWARM_WORKER_SLOTS: variable({
    purpose: "Tasks that one worker runs at the same time.",
    defaultText: "8",
    ...wholeNumber("a whole number", 1, 100),
  }),
  SUPASWARM_LEASE_SECONDS: variable({
    purpose: "Seconds that a claimed task stays with its worker without a sign of life.",
    defaultText: "30",
    ...wholeNumber("a whole number of seconds", 5, 600),
  }),
  SUPASWARM_HEARTBEAT_SECONDS: variable({
    purpose: "Seconds between two signs of life; at most half the lease.",
    defaultText: "10",
    ...wholeNumber("a whole number of seconds", 1, 300),
  }),
  SUPASWARM_WALL_CLOCK_SECONDS: variable({
    purpose: "Seconds that the platform lets a function instance live (150 free, 400 paid).",
    defaultText: "150",
    ...wholeNumber("a whole number of seconds", 1, 86_400),
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
} as const;

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
