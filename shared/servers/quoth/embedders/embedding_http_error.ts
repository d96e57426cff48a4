import { definedOnly } from "../../../platform/values/defined_only.ts";
import { REPORT_LIMITS } from "../../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../platform/json/parse_json.ts";
import { z } from "../../../vendor/zod.js";
import type { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { parseDuration, parseRetryAfter } from "../../../platform/net/retry_after.ts";
import type { EmbedderConfig } from "./embedder_config.ts";
import {
  createEmbedderError,
  createQuotaError,
  createRateLimitError,
  quoteProvider,
} from "./embedder_error.ts";
import { nextMidnight } from "./next_midnight.ts";

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
export function toHttpError(
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
