import { definedOnly } from "../../platform/values/defined_only.ts";
import { REPORT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import { z } from "../../vendor/zod.js";
import type { ErrorCode } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { createRedactor } from "../../platform/secrets/redact.ts";
import type { ModelEndpoint } from "./model_port.ts";
import { parseDuration, parseRetryAfter } from "../../platform/net/retry_after.ts";
import { ownMember } from "../../platform/values/own_member.ts";

/** Maximum length of a provider's own message in an error. */
const MAX_QUOTED_CHARS = 500;

/** The facts from which an error message is built. */
export interface ModelProblem {
  readonly code: ErrorCode;
  /** The provider's message, or ours if it sent none. */
  readonly message: string;
  readonly status?: number | undefined;
  /** The account's quota or money is used up. */
  readonly isQuota?: boolean;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

const HINTS: Partial<Record<ErrorCode, string>> = {
  MODEL_AUTH_FAILED: "Check the provider's key and account, then store the right key in Vault.",
  MODEL_REQUEST_INVALID:
    "Check the agent's model, temperature and max_tokens, and the provider's api and base_url.",
  MODEL_SCRIPT_FAILED:
    "Correct the script that the message names; it is read anew with each call. Then retry the task.",
  MODEL_NOT_FOUND:
    "Set the agent's model (null: the provider's default_model) to one that the provider serves, or add agent_fallbacks; if it serves this model, check the provider's api and base_url.",
  MODEL_CONTEXT_EXCEEDED:
    "Shorten the input, or use a model with a larger window (model_windows says how large it is).",
  MODEL_RATE_LIMITED: "Wait as long as the provider asks, or raise its limits.",
  MODEL_UNAVAILABLE: "Try again later; check the provider's base_url if this continues.",
  MODEL_TIMEOUT: "Try again later, or use a faster model.",
  MODEL_OUTPUT_INVALID: "Try again, or check that the provider's base_url supports its api.",
};

/** Error types that the three APIs report by name, with or without an HTTP status. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  insufficient_quota: 402,
  billing_error: 402,
  authentication_error: 401,
  permission_error: 403,
  API_KEY_INVALID: 401,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  not_found_error: 404,
  model_not_found: 404,
  invalid_model: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout_error: 504,
  overloaded_error: 529,
  api_error: 500,
  server_error: 500,
};

/**
 * These are more specific than the HTTP status: a 429 for an empty account never clears, and some
 * APIs report a missing model with a 400 or 403.
 */
const TYPES_OVER_STATUS = [
  ...["insufficient_quota", "billing_error", "API_KEY_INVALID"],
  ...["model_not_found", "invalid_model"],
];

const reportedSchema = z.object({
  message: z.string().optional(),
  type: z.string().nullish(),
  code: z.union([z.string(), z.number()]).nullish(),
  status: z.union([z.string(), z.number()]).nullish(),
  details: z.array(z.object({ reason: z.unknown().optional(), retryDelay: z.unknown().optional() }))
    .optional()
    .catch(undefined),
});

/** Creates the error of a failed model call. The endpoint's key never appears in it. */
export function createModelError(endpoint: ModelEndpoint, problem: ModelProblem): SwarmError {
  const { code, status, retryAfterSeconds, cause } = problem;
  const redactor = createRedactor(endpoint.apiKey === null ? [] : [endpoint.apiKey]);
  // Redacted before truncation: a truncated key would escape redaction.
  const words = redactor.text(problem.message).slice(0, MAX_QUOTED_CHARS);
  const suffix = status === undefined ? "" : ` (HTTP ${status})`;
  const named = code === "MODEL_NOT_FOUND" && endpoint.model !== undefined
    ? `it does not serve the model '${endpoint.model}': `
    : "";
  const message =
    `Cannot get an answer from provider '${endpoint.providerName}': ${named}${words}${suffix}`;
  return new SwarmError(code, message, {
    details: {
      provider: endpoint.providerName,
      ...definedOnly({
        model: endpoint.model,
        status,
        reason: problem.isQuota === true ? "quota" : undefined,
      }),
    },
    ...definedOnly({ hint: HINTS[code], retryAfterSeconds, cause }),
  });
}

/**
 * The error for an HTTP answer outside 2xx.
 *
 * @param body The answer's text; all three APIs' error objects are understood.
 */
export function toModelHttpError(
  endpoint: ModelEndpoint,
  answer: { readonly status: number; readonly headers: Headers; readonly body: string },
): SwarmError {
  const { status, headers, body } = answer;
  const reported = readReported(parseJsonOrUndefined(body, REPORT_LIMITS));
  const waitSeconds = parseRetryAfter(headers, Date.now()) ?? reported?.retryAfterSeconds;
  const isOverruled = TYPES_OVER_STATUS.some((type) => reported?.types.includes(type));
  const ruling = isOverruled ? reported?.status ?? status : status;
  const words = reported?.message ?? (body.trim() || "it gave no reason");
  return createModelError(endpoint, {
    code: codeOf(ruling, words, reported?.types),
    message: words,
    status,
    isQuota: ruling === 402,
    retryAfterSeconds: waitSeconds,
  });
}

/**
 * The error for an exception of an SDK or a provider's report inside a 2xx answer: an error object
 * in the answer, or an unreadable answer.
 */
export function toAnswerError(endpoint: ModelEndpoint, error: unknown): SwarmError {
  if (error instanceof SwarmError) return error;
  const reported = readReported(error);
  if (reported !== null) {
    return createModelError(endpoint, {
      code: codeOf(reported.status ?? 500, reported.message, reported.types),
      message: reported.message,
      status: reported.status,
      retryAfterSeconds: reported.retryAfterSeconds,
    });
  }
  const words = error instanceof Error ? error.message : String(error);
  return createModelError(endpoint, {
    code: "MODEL_OUTPUT_INVALID",
    message: `its answer cannot be read: ${words}`,
    cause: error,
  });
}

interface Reported {
  readonly message: string;
  readonly types: readonly string[];
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** Finds the error object of any of the three APIs at any nesting depth. */
function readReported(value: unknown): Reported | null {
  const object = innermostError(value);
  if (typeof object === "string") {
    return { message: object, types: [], status: undefined, retryAfterSeconds: undefined };
  }
  const parsed = reportedSchema.safeParse(object);
  if (!parsed.success) return null;
  const { message, type, code, status, details = [] } = parsed.data;
  const names = [type, code, status, ...details.map((detail) => detail.reason)];
  const types = names.filter((name): name is string => typeof name === "string");
  const numbers = [status, code].filter((item): item is number => typeof item === "number");
  const delays = details.map((detail) => detail.retryDelay);
  const delay = delays.find((item): item is string => typeof item === "string");
  const ranked = [...TYPES_OVER_STATUS.filter((name) => types.includes(name)), ...types];
  const known = ranked.map((name) => ownMember(STATUS_OF_TYPE, name)).find((item) =>
    item !== undefined
  );
  if (message === undefined && types.length === 0 && numbers.length === 0) return null;
  return {
    message: message ?? types.join(", "),
    types,
    status: known ?? numbers.find((item) => item >= 400 && item < 600),
    retryAfterSeconds: delay === undefined ? undefined : parseDuration(delay),
  };
}

/**
 * Unwraps `{error: …}` and `[{error: …}]`; `{object: "error", …}` (Mistral, vLLM) is the report
 * itself. A bare thrown error is not a provider's report.
 */
function innermostError(value: unknown): unknown {
  let current = Array.isArray(value) ? value[0] : value;
  let isReport = typeof current === "object" && current !== null && "object" in current &&
    current.object === "error";
  while (typeof current === "object" && current !== null && "error" in current && current.error) {
    current = current.error;
    isReport = true;
  }
  if (isReport) return current;
  // The Google SDK puts the object into the message of an error that has only a status.
  if (current instanceof Error && "status" in current && typeof current.status === "number") {
    return { message: current.message, status: current.status };
  }
  return undefined;
}

/** Phrases with which providers report that a prompt exceeds the model's window. */
const TOO_LONG = new RegExp(
  [
    "prompt is too long",
    "input is too long",
    "maximum context length",
    "context (window|length|size)",
    "exceed[a-z ]* context limit",
    "input token count[^.]*exceeds",
    "too many (input )?tokens",
  ].join("|"),
  "i",
);

/** Phrases with which compatible servers report a missing model without a type of its own. */
const NO_SUCH_MODEL = /\b(not a valid|invalid|unknown|no such) model\b|^model\b.*\bnot found\b/i;

/**
 * The provider serves the model, but not this request: OpenAI names the endpoint that does,
 * OpenRouter the option that no server has.
 */
const SERVED_OTHERWISE = /\bv1\/responses\b|no endpoints found that\b/i;

function codeOf(status: number, message: string, types: readonly string[] = []): ErrorCode {
  const code = codeOfStatus(status);
  if (code === "MODEL_NOT_FOUND" && SERVED_OTHERWISE.test(message)) return "MODEL_REQUEST_INVALID";
  if (code !== "MODEL_REQUEST_INVALID") return code;
  if (types.includes("script_failed")) return "MODEL_SCRIPT_FAILED";
  if (types.includes("context_length_exceeded") || TOO_LONG.test(message)) {
    return "MODEL_CONTEXT_EXCEEDED";
  }
  return NO_SUCH_MODEL.test(message) ? "MODEL_NOT_FOUND" : code;
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401 || status === 402 || status === 403) return "MODEL_AUTH_FAILED";
  if (status === 404 || status === 410) return "MODEL_NOT_FOUND";
  if (status === 408 || status === 504) return "MODEL_TIMEOUT";
  if (status === 429) return "MODEL_RATE_LIMITED";
  if (status === 409 || status >= 500) return "MODEL_UNAVAILABLE";
  return "MODEL_REQUEST_INVALID";
}
