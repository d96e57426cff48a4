import { definedOnly } from "../../../platform/values/defined_only.ts";
import type { ErrorCode } from "../../../platform/errors/codes.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../platform/values/json.ts";
import { createRedactor } from "../../../platform/secrets/redact.ts";
import type { EmbedderConfig } from "./embedder_config.ts";

/** Maximum length of a provider's own message in an error. */
const MAX_QUOTED_CHARS = 300;
/** A message that shares this many characters with a text quotes it. */
const SHARED_CHARS = 24;

/** The facts about an embedder that its errors need. */
export type EmbedderIdentity = Pick<EmbedderConfig, "name" | "secret">;

type EmbedderErrorCode = Extract<ErrorCode, `EMBEDDER_${string}`>;

/** Creates the error of a failure. Neither the key nor any embedded text ever appears in it. */
export function createEmbedderError(
  { name, secret }: EmbedderIdentity,
  problem: {
    readonly code: EmbedderErrorCode;
    readonly message: string;
    readonly details?: JsonObject;
    readonly hint?: string;
    readonly retryAfterSeconds?: number;
    readonly cause?: unknown;
  },
): SwarmError {
  const { code, message, details = {}, hint, retryAfterSeconds, cause } = problem;
  const words = createRedactor(secret === null ? [] : [secret]).text(message);
  return new SwarmError(code, `Cannot embed with '${name}': ${words}`, {
    details: { embedder: name, ...details },
    ...definedOnly({ hint, retryAfterSeconds, cause }),
  });
}

/** Creates the error for a rate-limited request. */
export function createRateLimitError(identity: EmbedderIdentity, retryAfterMs: number): SwarmError {
  return createEmbedderError(identity, {
    code: "EMBEDDER_RATE_LIMITED",
    message: `its rate limit per minute is reached for another ${Math.ceil(retryAfterMs / 1000)} s`,
    details: { retryAfterMs },
    retryAfterSeconds: retryAfterMs / 1000,
  });
}

/** Creates the error for a used-up daily quota. */
export function createQuotaError(
  identity: EmbedderIdentity,
  until: Date,
  nowMs: number,
): SwarmError {
  return createEmbedderError(identity, {
    code: "EMBEDDER_QUOTA_EXHAUSTED",
    message: `its daily quota is used up until ${until.toISOString()}`,
    details: { untilIso: until.toISOString() },
    retryAfterSeconds: Math.max(0, until.getTime() - nowMs) / 1000,
  });
}

/** Creates the error for an embedder that rejects everything and is paused until it is fixed. */
export function createRefusedError(
  { name }: EmbedderIdentity,
  { message, until }: { readonly message: string; readonly until: Date },
  nowMs: number,
): SwarmError {
  const untilIso = until.toISOString();
  return new SwarmError("EMBEDDER_REFUSED", `${message}; the next try is at ${untilIso}`, {
    hint:
      `Correct the embedder's key, model, model_dimensions or base_url, or the account. It resumes ` +
      `then, or immediately with select private.resume_embedder('${name}').`,
    details: { embedder: name, untilIso },
    retryAfterSeconds: Math.max(0, until.getTime() - nowMs) / 1000,
  });
}

/**
 * Whether one of the texts may have caused a failure. This includes an invalid answer, and a 403,
 * because a provider's firewall may block texts that look like an attack.
 */
export function mayBeCausedByText({ code, details }: SwarmError): boolean {
  if (code === "EMBEDDER_REFUSED") return Object(details).status === 403;
  return code === "EMBEDDER_TEXT_REFUSED" || code === "EMBEDDER_OUTPUT_INVALID";
}

/** A provider's own error message; none if it quotes one of the texts. */
export function quoteProvider(
  { secret }: EmbedderIdentity,
  message: string,
  texts: readonly string[],
): string {
  // Redacted before truncation: a truncated key would escape redaction.
  const redacted = createRedactor(secret === null ? [] : [secret]).text(message);
  const words = redacted.replace(/\s+/g, " ").trim().slice(0, MAX_QUOTED_CHARS);
  if (words === "") return "it gave no reason";
  return isQuoting(words, texts) ? "its message quotes the text" : words;
}

function isQuoting(words: string, texts: readonly string[]): boolean {
  const flat = texts.map((text) => text.replace(/\s+/g, " ").trim());
  if (flat.some((text) => text.length > 2 && words.includes(text))) return true;
  for (let start = 0; start + SHARED_CHARS <= words.length; start++) {
    const piece = words.slice(start, start + SHARED_CHARS);
    if (flat.some((text) => text.includes(piece))) return true;
  }
  return false;
}
