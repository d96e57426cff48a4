import { SwarmError } from "../errors/swarm_error.ts";
import { ACTOR_HEADER, TASK_HEADER } from "../http/actor_headers.ts";
import { capBody } from "./cap_body.ts";
import { assertUrlAllowed, type UrlPolicy } from "./url_policy.ts";

/** Options of a guarded fetch in addition to its address policy. */
export interface GuardedFetchPolicy extends UrlPolicy {
  /**
   * Bytes of a response body after which reading fails with `OUTPUT_TOO_LARGE`.
   * @default no cap
   */
  readonly maxBodyBytes?: number;
  /** Sends the checked requests. @default the runtime's `fetch` */
  readonly fetch?: typeof fetch;
}

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The only headers sent to another origin after a redirect, because credentials may have any name.
 */
const HEADERS_FOR_OTHER_ORIGINS = [
  ...["accept", "accept-language", "content-type", "user-agent"],
  // The redirect may lead back to this project, which must see that an agent sent the request.
  ...[ACTOR_HEADER, TASK_HEADER],
];

/** A request and the permitted targets of its redirects. */
export interface GuardedRequestInit extends RequestInit {
  /** Host names with their ports. @default any host that the policy allows */
  readonly redirectHosts?: readonly string[] | undefined;
}

/** A `fetch` that only reaches addresses allowed by its policy. */
export type GuardedFetch = (
  input: RequestInfo | URL,
  init?: GuardedRequestInit,
) => Promise<Response>;

/**
 * Creates a `fetch` that only reaches addresses allowed by the policy: the first address and each
 * redirect are checked; a redirect to another origin drops every header that could be a credential
 * and is refused if it would send a body there.
 *
 * `redirect: "manual"` and `"error"` are supported. The fetch rejects with `SwarmError`
 * `TOOL_ADDRESS_FORBIDDEN` or `TOOL_UNAVAILABLE` before anything is sent to a refused address.
 */
export function createGuardedFetch(policy: GuardedFetchPolicy): GuardedFetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { body: given }: { readonly body?: unknown } = init ?? {};
    const body = request.body === null
      ? null
      : typeof given === "string"
      ? given
      : await request.arrayBuffer();
    const response = await followRedirects(request, body, {
      ...policy,
      redirectHosts: init?.redirectHosts,
    });
    return policy.maxBodyBytes === undefined ? response : capBody(response, policy.maxBodyBytes);
  };
}

async function followRedirects(
  request: Request,
  body: Hop["body"],
  policy: GuardedFetchPolicy & Pick<GuardedRequestInit, "redirectHosts">,
): Promise<Response> {
  const send = policy.fetch ?? fetch;
  let hop: Hop = {
    url: await assertUrlAllowed(request.url, policy),
    method: request.method,
    headers: new Headers(request.headers),
    body,
  };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const { url, ...init } = hop;
    const response = await send(url, { ...init, redirect: "manual", signal: request.signal });
    const location = response.headers.get("location");
    if (
      location === null || !REDIRECT_STATUSES.has(response.status) || request.redirect === "manual"
    ) {
      return response;
    }
    await response.body?.cancel();
    if (request.redirect === "error") throw refusedRedirect(url, "redirects are not followed here");
    hop = nextHop(hop, response.status, location);
    if (policy.redirectHosts?.includes(hop.url.host) === false) {
      throw refusedRedirect(hop.url, "the request may not be sent to that host");
    }
    await assertUrlAllowed(hop.url, policy);
  }
  throw refusedRedirect(hop.url, `it redirects more than ${MAX_REDIRECTS} times`);
}

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  /** Kept, because a redirect may need it again. */
  readonly body: ArrayBuffer | string | null;
}

/** Creates the request of a redirect, by the rules of the Fetch standard. */
function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = URL.parse(location, hop.url);
  if (url === null) throw refusedRedirect(hop.url, "it redirects to an invalid URL");
  const isSafeMethod = hop.method === "GET" || hop.method === "HEAD";
  const becomesGet = (status === 303 && !isSafeMethod) ||
    ((status === 301 || status === 302) && hop.method === "POST");
  const body = becomesGet ? null : hop.body;
  const headers = url.origin === hop.url.origin
    ? new Headers(hop.headers)
    : headersForOtherOrigin(hop.headers);
  if (body === null) headers.delete("content-type");
  if (body !== null && url.origin !== hop.url.origin) {
    throw refusedRedirect(hop.url, "it would send a body to another origin");
  }
  return { url, method: becomesGet ? "GET" : hop.method, headers, body };
}

function headersForOtherOrigin(headers: Headers): Headers {
  const kept = new Headers();
  for (const name of HEADERS_FOR_OTHER_ORIGINS) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

function refusedRedirect(url: URL, reason: string): SwarmError {
  return new SwarmError(
    "TOOL_ADDRESS_FORBIDDEN",
    `Cannot follow the redirect of '${url.origin}': ${reason}`,
    { hint: "Register the URL that the redirect leads to." },
  );
}
