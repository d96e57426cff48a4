import { z } from "../../../../vendor/zod.js";
import { FUNCTION_NAMES } from "../../../../platform/values/function_names.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { FORM_LIMITS } from "../../../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../../platform/json/parse_json.ts";

/** The authorization server's response through the user's browser. */
export type AuthorizationAnswer = z.infer<typeof answerSchema>;
/** The lengths are far above real values and reject garbage. */
const answerSchema = z.object({
  state: z.string().min(1).max(200),
  code: z.string().min(1).max(4_096),
  /** The answering issuer (RFC 9207). */
  iss: z.string().max(2_048).optional(),
});

/**
 * The response as one text, which the signed-in user sends back. The browser alone does not prove
 * who uses it: a link that somebody else started would connect this person's account for them.
 */
export function toConfirmation(answer: AuthorizationAnswer): string {
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The response in a callback's URL; null if there is none. */
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

/** Creates the error for a response that matches no pending authorization of this user. */
export function invalidAuthorization(
  reason = "the authorization is not yours, was already used, or has expired",
): SwarmError {
  return new SwarmError(
    "AUTHORIZATION_INVALID",
    `Cannot connect: ${reason}`,
    {
      hint: `Start again with POST /functions/v1/${FUNCTION_NAMES.oauth} and open ` +
        "authorization_url yourself.",
    },
  );
}
