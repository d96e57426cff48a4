import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { EMBEDDING_LIMITS, REPORT_LIMITS } from "../../../platform/json/json_limits.ts";
import {
  describeExcess,
  parseJson,
  parseJsonOrUndefined,
} from "../../../platform/json/parse_json.ts";
import { wellFormedJson } from "../../../platform/json/well_formed_json.ts";
import { readText } from "../../../platform/net/read_text.ts";
import type { EmbedderConfig } from "./embedder_config.ts";
import {
  createEmbedderError,
  createQuotaError,
  createRateLimitError,
  quoteProvider,
} from "./embedder_error.ts";
import { definedOnly } from "../../../platform/values/defined_only.ts";
import { z } from "../../../vendor/zod.js";
import { parseDuration, parseRetryAfter } from "../../../platform/net/retry_after.ts";

/** Options of requests to embedders. */
export interface EmbeddingTransport {
  /** Sends the requests; the product passes a `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
  /** Longest wait for a whole answer. @default 60_000 */
  readonly requestTimeoutMs?: number;
  /** The current time in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** A request to one embedder. */
export interface EmbeddingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The embedded texts, which no error may quote. */
  readonly texts: readonly string[];
}

/** A hundred vectors of 3,072 numbers are 7 MB. */
const MAX_RESPONSE_BYTES = 33_554_432;

/**
 * Sends a request as JSON and returns the answer's JSON.
 *
 * @throws the signal's reason when it aborts; otherwise SwarmError as documented for `Embedder`.
 */
export async function requestEmbeddings(
  config: EmbedderConfig,
  request: EmbeddingRequest,
  transport: EmbeddingTransport,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  const deadline = new AbortController();
  const timeoutMs = transport.requestTimeoutMs ?? 60_000;
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    return await send(config, request, transport, AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.signal.aborted) {
      throw unavailable(config, `it did not answer within ${timeoutMs / 1000} s`, error);
    }
    // The guard explains a refused address; a name without an address is the embedder's failure.
    if (error instanceof SwarmError && error.code !== "TOOL_UNAVAILABLE") throw error;
    const words = error instanceof Error ? error.message : String(error);
    throw unavailable(config, `the connection failed: ${words}`, error);
  } finally {
    clearTimeout(timer);
    // Closes whatever is still open after the call.
    deadline.abort();
  }
}

async function send(
  config: EmbedderConfig,
  { url, headers, body, texts }: EmbeddingRequest,
  transport: EmbeddingTransport,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await transport.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: wellFormedJson(JSON.stringify(body)),
    // A redirect would send the key and the texts to an unregistered address.
    redirect: "manual",
    signal,
  });
  const { text, isCut } = await readText(response, MAX_RESPONSE_BYTES);
  if (!response.ok) {
    const answer = { status: response.status, headers: response.headers, body: text };
    throw toHttpError(config, answer, { texts, nowMs: transport.nowMs() });
  }
  if (isCut) {
    throw createEmbedderError(config, {
      code: "EMBEDDER_OUTPUT_INVALID",
      message: `its answer is longer than ${MAX_RESPONSE_BYTES} bytes`,
    });
  }
  const parsed = parseJson(text, EMBEDDING_LIMITS);
  if (parsed.kind === "json") return parsed.value;
  throw createEmbedderError(config, {
    code: "EMBEDDER_OUTPUT_INVALID",
    message: parsed.kind === "not_json"
      ? "its answer is not JSON"
      : `its answer cannot be read: ${describeExcess(parsed.excess)}`,
    ...(parsed.kind === "not_json" ? { cause: parsed.cause } : {}),
  });
}

function unavailable(config: EmbedderConfig, message: string, cause: unknown): SwarmError {
  return createEmbedderError(config, { code: "EMBEDDER_UNAVAILABLE", message, cause });
}

/** Longer waits mean a used-up daily quota, not a limit per minute. */
const LONGEST_RATE_LIMIT_SECONDS = 3_600;
/** Default wait for a limit per minute if the provider does not send one. */
const DEFAULT_WAIT_SECONDS = 60;

const detailSchema = z.object({
  reason: z.string().optional(),
  retryDelay: z.string().optional(),
  violations: z.array(z.object({ quotaId: z.string().optional() })).optional(),
});

/** The error object of both wire formats. */
const reportSchema = z.object({
  error: z.object({
    message: z.string().optional().catch(undefined),
    code: z.union([z.string(), z.number()]).nullish().catch(undefined),
    type: z.string().nullish().catch(undefined),
    details: z.array(detailSchema).catch([]).default([]),
  }),
});
type Report = z.infer<typeof reportSchema>["error"];

/** The error for an HTTP answer outside 2xx. */
function toHttpError(
  config: EmbedderConfig,
  answer: { readonly status: number; readonly headers: Headers; readonly body: string },
  context: { readonly texts: readonly string[]; readonly nowMs: number },
): SwarmError {
  const { status, headers, body } = answer;
  const report = readReport(body);
  if (status === 429 && report.code !== "insufficient_quota") {
    return toLimitError(config, { report, headers, nowMs: context.nowMs });
  }
  const words = status >= 300 && status < 400
    ? "it responded with a redirect, which is not followed"
    : quoteProvider(config, report.message ?? "", context.texts);
  const waitSeconds = parseRetryAfter(headers, context.nowMs);
  return createEmbedderError(config, {
    code: codeOf(status, report),
    message: `${words} (HTTP ${status})`,
    details: { status },
    ...definedOnly({ retryAfterSeconds: waitSeconds }),
  });
}

/** A limit per minute: wait as requested. A daily limit: wait until the provider's midnight. */
function toLimitError(
  config: EmbedderConfig,
  { report, headers, nowMs }: {
    readonly report: Report;
    readonly headers: Headers;
    readonly nowMs: number;
  },
): SwarmError {
  const quotaIds = report.details.flatMap(({ violations = [] }) => violations)
    .map(({ quotaId }) => quotaId ?? "");
  if (quotaIds.some((quotaId) => /PerDay/i.test(quotaId))) {
    return createQuotaError(config, nextMidnight(nowMs, config.quota_time_zone), nowMs);
  }
  const delays = report.details.map(({ retryDelay }) => retryDelay);
  const delay = delays.find((item) => item !== undefined);
  const waitSeconds = parseRetryAfter(headers, nowMs) ??
    (delay === undefined ? undefined : parseDuration(delay)) ?? DEFAULT_WAIT_SECONDS;
  return waitSeconds > LONGEST_RATE_LIMIT_SECONDS
    ? createQuotaError(config, new Date(nowMs + waitSeconds * 1000), nowMs)
    : createRateLimitError(config, Math.max(Math.ceil(waitSeconds * 1000), 1));
}

function codeOf(status: number, { code, details }: Report) {
  const reasons = [code, ...details.map(({ reason }) => reason)];
  const isAboutAccount = reasons.includes("insufficient_quota") ||
    reasons.includes("API_KEY_INVALID");
  if (isAboutAccount) return "EMBEDDER_REFUSED";
  if ([400, 413, 422].includes(status)) return "EMBEDDER_TEXT_REFUSED";
  if (status >= 500 || [408, 409, 425].includes(status)) return "EMBEDDER_UNAVAILABLE";
  return "EMBEDDER_REFUSED";
}

function readReport(body: string): Report {
  const parsed = reportSchema.safeParse(parseJsonOrUndefined(body, REPORT_LIMITS));
  // Proxies respond with HTML or plain text, which is not useful.
  return parsed.success ? parsed.data.error : { details: [] };
}

const DAY_MS = 86_400_000;

/**
 * The start of the next day in a time zone, when a provider's daily quota resets.
 *
 * @param timeZone An IANA name such as `America/Los_Angeles`.
 */
export function nextMidnight(nowMs: number, timeZone: string): Date {
  const today = dateIn(timeZone, nowMs);
  // Days have 23 to 25 hours, so the hour is searched, not computed.
  let before = nowMs;
  let after = nowMs + DAY_MS + 2 * 3_600_000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dateIn(timeZone, middle) === today) before = middle;
    else after = middle;
  }
  return new Date(after);
}

function dateIn(timeZone: string, atMs: number): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(atMs);
}
