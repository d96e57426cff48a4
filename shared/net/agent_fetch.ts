import { FORM_LIMITS } from "../json/json_limits.ts";
import { parseJsonOrUndefined } from "../json/parse_json.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { ACTOR_HEADER, TASK_HEADER } from "../http/actor_headers.ts";

/** For whose tools a fetch sends. */
export interface AgentFetchOptions {
  /** Null: an agent outside of a task. */
  readonly taskId: string | null;
  /** Of the project; no request of an agent carries one, wherever it goes. */
  readonly secretKeys: readonly string[];
  /** The project's own addresses, without a path. */
  readonly projectUrls: readonly string[];
  /** A `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
}

/**
 * Makes the `fetch` of an agent's tools. Every request says that an agent sends it, so that where it
 * reaches this project, under whichever of its names, it never acts as a person or as the project.
 *
 * The fetch rejects with `SwarmError` `TOOL_ADDRESS_FORBIDDEN` for the project's own Auth, which
 * does not know agents, and `AGENT_NOT_ALLOWED` for a request that carries a secret key.
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
    // Whatever a template of the tool's config, or the agent through it, has set.
    if (taskId === null) headers.delete(TASK_HEADER);
    else headers.set(TASK_HEADER, taskId);
    return await options.fetch(input, { ...init, headers });
  };
}

function isAuthPath(pathname: string): boolean {
  // A path may be escaped, and gateways join slashes.
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

/** A key of the older kind: a token whose role is that of the service. */
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
    { hint: "Have a person do it, or an edge function of the project." },
  );
}

function secretKeyForbidden(): SwarmError {
  return new SwarmError(
    "AGENT_NOT_ALLOWED",
    "Cannot send the request: it carries a secret key of the project, which an agent may not use",
    {
      hint: "Register what the tool does as a database function or an edge function, which run " +
        "with the rights of the task's owner.",
    },
  );
}
