import { FORM_LIMITS } from "../json/json_limits.ts";
import { parseJsonOrUndefined } from "../json/parse_json.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { ACTOR_HEADER, TASK_HEADER } from "../http/actor_headers.ts";

interface AgentFetchOptions {
  /** Null for an agent outside of a task. */
  readonly taskId: string | null;
  /** The project's secret keys; an agent's request must not contain any of them. */
  readonly secretKeys: readonly string[];
  /** The project's own addresses, without a path. */
  readonly projectUrls: readonly string[];
  /** A `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
}

/**
 * Creates the `fetch` of an agent's tools. Every request is marked as an agent's, so that it never
 * acts as a person or as the project if it reaches this project, under any of its names.
 *
 * The fetch rejects with `SwarmError` `TOOL_ADDRESS_FORBIDDEN` for the project's own Auth, which
 * does not support agents, and `AGENT_NOT_ALLOWED` for a request with a secret key.
 */
export function createAgentFetch(options: AgentFetchOptions): typeof fetch {
  const { taskId, secretKeys, projectUrls } = options;
  const origins = projectUrls.map((url) => new URL(url).origin);
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (origins.includes(url.origin) && isAuthPath(url.pathname)) throw authForbidden();
    if (carriesSecretKey(request, url, secretKeys)) throw secretKeyForbidden();
    const headers = new Headers(request.headers);
    headers.set(ACTOR_HEADER, "agent");
    // Overrides headers set by the tool's config or, through it, by the agent.
    if (taskId === null) headers.delete(TASK_HEADER);
    else headers.set(TASK_HEADER, taskId);
    return await options.fetch(input, { ...init, headers });
  };
}

function isAuthPath(pathname: string): boolean {
  // A path may be escaped, and gateways merge slashes.
  return /^\/+auth(\/|$)/i.test(decoded(pathname));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function carriesSecretKey(request: Request, url: URL, secretKeys: readonly string[]): boolean {
  const values = [...request.headers.values(), ...url.searchParams.values()];
  return values.some((value) =>
    secretKeys.some((key) => key !== "" && value.includes(key)) || holdsServiceToken(value)
  );
}

/** A legacy key: a token with the service role. */
function holdsServiceToken(value: string): boolean {
  const payloads = value.matchAll(/eyJ[\w-]{5,2000}\.(eyJ[\w-]{5,2000})\.[\w-]/g);
  for (const [, payload = ""] of payloads) {
    try {
      const text = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
      const claims = parseJsonOrUndefined(text, FORM_LIMITS);
      if (claims instanceof Object && Reflect.get(claims, "role") === "service_role") return true;
    } catch {
      // Not a token after all.
    }
  }
  return false;
}

function authForbidden(): SwarmError {
  return new SwarmError(
    "TOOL_ADDRESS_FORBIDDEN",
    "Cannot call the project's own Auth: an agent may not sign in as a person or change an account",
    { hint: "Let a person do it, or an edge function of the project." },
  );
}

function secretKeyForbidden(): SwarmError {
  return new SwarmError(
    "AGENT_NOT_ALLOWED",
    "Cannot send the request: it contains a secret key of the project, which an agent may not use",
    {
      hint: "Register the tool as a database function or an edge function, which run " +
        "with the rights of the task's owner.",
    },
  );
}
