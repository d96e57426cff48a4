import { parseRetryAfter } from "../../../platform/net/retry_after.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { capBody } from "../../../platform/net/cap_body.ts";

/** Default wait for GitHub's secondary limits, if it does not send one. */
const UNTOLD_WAIT_SECONDS = 60;
/** Limit for an error of GitHub, which has some 200 bytes. */
const MAX_ERROR_BYTES = 16_384;

/**
 * Converts a failed response to an error. Reads the whole response.
 *
 * @param what The requested object, such as "the head of 'main' of 'org/repo'".
 * @param nowMs Milliseconds since 1970, to turn the time of a reset into a wait.
 */
export async function githubFailure(
  response: Response,
  what: string,
  nowMs: number,
): Promise<SwarmError> {
  const { status } = response;
  const text = await capBody(response, MAX_ERROR_BYTES).text().catch(() => "");
  const waitSeconds = askedWaitSeconds(response.headers, text, nowMs);
  if (status === 429 || (status === 403 && waitSeconds !== null)) {
    const retryAfterSeconds = waitSeconds ?? UNTOLD_WAIT_SECONDS;
    return new SwarmError(
      "GITHUB_RATE_LIMITED",
      `Cannot read ${what}: GitHub's rate limit is reached`,
      {
        retryAfterSeconds,
        hint:
          "The sync continues automatically. A token raises the limit: see quoth:add --token-env.",
        details: { retry_after_seconds: Math.ceil(retryAfterSeconds) },
      },
    );
  }
  if (status === 401 || status === 403) {
    return new SwarmError("GITHUB_AUTH_FAILED", `Cannot read ${what}: GitHub answered ${status}`, {
      hint: "Give quoth:add --token-env a token that may read the repository's contents.",
    });
  }
  // 409 means an empty repository, 422 an invalid Git name.
  if (status === 404 || status === 409 || status === 422) {
    return new SwarmError("GITHUB_NOT_FOUND", `Cannot read ${what}: GitHub answered ${status}`, {
      hint: "Check the project's repository and branch; a private one needs quoth:add --token-env.",
    });
  }
  return unavailable(what, `it responded with ${status}`, { waitSeconds });
}

/** A temporary failure. */
export function unavailable(
  what: string,
  problem: string,
  options: { readonly cause?: unknown; readonly waitSeconds?: number | null } = {},
): SwarmError {
  const { cause, waitSeconds = null } = options;
  return new SwarmError("GITHUB_UNAVAILABLE", `Cannot read ${what} from GitHub: ${problem}`, {
    cause,
    hint: "The sync retries automatically.",
    ...(waitSeconds === null ? {} : { retryAfterSeconds: waitSeconds }),
  });
}

function askedWaitSeconds(headers: Headers, text: string, nowMs: number): number | null {
  const retryAfter = parseRetryAfter(headers, nowMs);
  if (retryAfter !== undefined) return retryAfter;
  // Secondary limits may have no reset time and do not count against the hourly limit.
  if (headers.get("x-ratelimit-remaining") !== "0") {
    return /secondary rate limit/i.test(text) ? UNTOLD_WAIT_SECONDS : null;
  }
  const resetSeconds = Number(headers.get("x-ratelimit-reset") ?? NaN);
  if (!Number.isFinite(resetSeconds)) return UNTOLD_WAIT_SECONDS;
  return Math.max(1, resetSeconds - nowMs / 1_000);
}
