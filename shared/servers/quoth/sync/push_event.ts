import { z } from "../../../vendor/zod.js";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { bodyTooLarge } from "../../../platform/http/parse_body.ts";
import { WEBHOOK_LIMITS } from "../../../platform/json/json_limits.ts";
import { parseJson } from "../../../platform/json/parse_json.ts";

/** The relevant part of a `push` payload; its file lists are truncated by GitHub and ignored. */
export const pushEvent = z.object({
  ref: z.string(),
  after: z.string().regex(/^[0-9a-f]{40}$/),
  deleted: z.boolean().default(false),
});

/**
 * The JSON of a webhook's body in either of GitHub's two content types. Only for a body whose
 * signature has been checked.
 *
 * @throws BODY_INVALID
 */
export function parsePayload(body: Uint8Array, contentType: string | null): unknown {
  const isForm = contentType?.startsWith("application/x-www-form-urlencoded") ?? false;
  const parsed = parseJson(isForm ? payloadOfForm(body) : body, WEBHOOK_LIMITS);
  if (parsed.kind === "json") return parsed.value;
  if (parsed.kind === "too_large") throw bodyTooLarge("the webhook", parsed.excess);
  throw new SwarmError("BODY_INVALID", "Cannot read the webhook: its body is not JSON", {
    cause: parsed.cause,
    hint: "Set the webhook's content type to application/json.",
  });
}

function payloadOfForm(body: Uint8Array): string {
  return new URLSearchParams(new TextDecoder().decode(body)).get("payload") ?? "";
}

/** The reason why a push is ignored, or null: only the tip of the project's branch is relevant. */
export function ignoredReason(
  { ref, deleted }: z.infer<typeof pushEvent>,
  defaultBranch: string,
): "tag" | "branch" | "deleted" | null {
  if (ref.startsWith("refs/tags/")) return "tag";
  if (ref !== `refs/heads/${defaultBranch}`) return "branch";
  return deleted ? "deleted" : null;
}
