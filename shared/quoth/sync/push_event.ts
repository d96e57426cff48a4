import { z } from "zod";
import { SwarmError } from "../../errors/swarm_error.ts";

/** What of a `push` payload counts; its lists of files are cut short and never looked at. */
export const pushEvent = z.object({
  ref: z.string(),
  after: z.string().regex(/^[0-9a-f]{40}$/),
  deleted: z.boolean().default(false),
});

const payload = z.object({ repository: z.object({ full_name: z.string().max(200) }) });

/**
 * The JSON of a webhook's body in either of GitHub's two content types, which may still be
 * anybody's: nothing but {@linkcode repositoryOf} may read it before the signature has been checked.
 *
 * @throws BODY_INVALID
 */
export function parsePayload(body: Uint8Array, contentType: string | null): unknown {
  const text = new TextDecoder().decode(body);
  const isForm = contentType?.startsWith("application/x-www-form-urlencoded") ?? false;
  try {
    return JSON.parse(isForm ? new URLSearchParams(text).get("payload") ?? "" : text);
  } catch (cause) {
    throw new SwarmError("BODY_INVALID", "Cannot read the webhook: its body is not JSON", {
      cause,
      hint: "Set the webhook's content type to application/json.",
    });
  }
}

/** `owner/name` of the repository that a payload says it is from; null when it says none. */
export function repositoryOf(json: unknown): string | null {
  return payload.safeParse(json).data?.repository.full_name ?? null;
}

/** Why a push asks for nothing, or null: only the tip of the project's branch counts. */
export function ignoredReason(
  { ref, deleted }: z.infer<typeof pushEvent>,
  defaultBranch: string,
): "tag" | "branch" | "deleted" | null {
  if (ref.startsWith("refs/tags/")) return "tag";
  if (ref !== `refs/heads/${defaultBranch}`) return "branch";
  return deleted ? "deleted" : null;
}
