import { FORM_LIMITS } from "../json/json_limits.ts";
import { parseJsonOrUndefined } from "../json/parse_json.ts";
import { isJsonObject } from "../values/json.ts";

/** Tokens that are remembered; the oldest is forgotten first. */
const MAX_TOKENS = 500;

/**
 * Assigns requests to callers before they are authenticated, for fair shares of an isolate. It
 * verifies nothing itself: a token counts as its subject only after a request with the same token
 * was answered. All others count as their network address, so that invented tokens and subjects
 * give nobody a larger share.
 */
export class CallerKeys {
  readonly #subjects = new Map<string, string>();

  /** The caller of a request, for comparison only. */
  keyOf(request: Request): string {
    const subject = this.#subjects.get(tokenOf(request) ?? "");
    return subject === undefined ? `address ${addressOf(request)}` : `subject ${subject}`;
  }

  /** Remembers or forgets the request's token. */
  note(request: Request, { status, ok }: Pick<Response, "status" | "ok">): void {
    const token = tokenOf(request);
    if (token === null) return;
    if (status === 401) this.#subjects.delete(token);
    if (!ok || this.#subjects.has(token)) return;
    this.#subjects.set(token, subjectOf(token));
    const [oldest] = this.#subjects.keys();
    if (this.#subjects.size > MAX_TOKENS && oldest !== undefined) this.#subjects.delete(oldest);
  }
}

function tokenOf({ headers }: Request): string | null {
  return headers.get("authorization") ?? headers.get("apikey");
}

/** Where the request comes from, as the platform's proxy writes it. */
function addressOf({ headers }: Request): string {
  return headers.get("cf-connecting-ip") ?? headers.get("x-forwarded-for")?.split(",")[0] ?? "";
}

/** The `sub` of a JWT, so that all tokens of a user count as one caller; else the token. */
function subjectOf(token: string): string {
  const payload = token.split(".")[1] ?? "";
  try {
    const text = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    const claims = parseJsonOrUndefined(text, FORM_LIMITS);
    return isJsonObject(claims) && typeof claims.sub === "string" ? claims.sub : token;
  } catch {
    return token;
  }
}
