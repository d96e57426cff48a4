import { z } from "../../../vendor/zod.js";
import { SwarmError } from "../../../errors/swarm_error.ts";
import { FORM_LIMITS } from "../../../json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../json/parse_json.ts";

/** What an authorization server answered through the user's browser. */
export type AuthorizationAnswer = z.infer<typeof answerSchema>;
/** Lengths are far above what is in use, and keep nonsense out. */
const answerSchema = z.object({
  state: z.string().min(1).max(200),
  code: z.string().min(1).max(4_096),
  /** The answering issuer (RFC 9207). */
  iss: z.string().max(2_048).optional(),
});

/**
 * The answer as one text, which the signed-in user gives back. The browser alone does not say who
 * sits before it: a link that somebody else began would hand them this person's account.
 */
export function toConfirmation(answer: AuthorizationAnswer): string {
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The answer that a callback's address holds; null when it holds none. */
export function answerOfCallback(query: URLSearchParams): AuthorizationAnswer | null {
  const iss = query.get("iss");
  const parsed = answerSchema.safeParse({
    state: query.get("state"),
    code: query.get("code"),
    ...(iss === null ? {} : { iss }),
  });
  return parsed.success ? parsed.data : null;
}

/**
 * Reads a confirmation.
 *
 * @throws SwarmError `AUTHORIZATION_INVALID`
 */
export function parseConfirmation(confirmation: string): AuthorizationAnswer {
  try {
    const binary = atob(confirmation.trim().replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return answerSchema.parse(parseJsonOrUndefined(bytes, FORM_LIMITS));
  } catch {
    throw invalidAuthorization();
  }
}

/** The error for an answer that fits no authorisation of this user that is under way. */
export function invalidAuthorization(): SwarmError {
  return new SwarmError(
    "AUTHORIZATION_INVALID",
    "Cannot connect: you began no such authorisation, it has been used, or it has expired",
    { hint: "Begin again with POST /functions/v1/mcp-oauth and open authorization_url yourself." },
  );
}
