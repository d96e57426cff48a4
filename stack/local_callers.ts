import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import type { Environment } from "./stack_environment.ts";

/** Who may use the ports of this machine besides its programs and the pages of loopback origins. */
export interface LocalCallers {
  /** Names under which the ports may be reached, such as that of a tunnel. */
  readonly hosts: readonly string[];
  /** Origins of further pages. */
  readonly origins: readonly string[];
}

/** Only programs of this machine, and pages of loopback origins. */
export const LOOPBACK_CALLERS: LocalCallers = { hosts: [], origins: [] };

const HOSTS_VARIABLE = "SUPASWARM_ALLOWED_HOSTS";
const ORIGINS_VARIABLE = "SUPASWARM_ALLOWED_ORIGINS";
const PUBLIC_URL_VARIABLE = "SUPASWARM_PUBLIC_URL";

const LOOPBACK_HOST = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const HOST_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/**
 * Reads the further hosts and origins. The host and the origin of the project's public address are
 * allowed without being listed.
 *
 * @throws SwarmError CONFIG_INVALID for an entry that is not a host name or not an origin.
 */
export function localCallers(environment: Environment): LocalCallers {
  const hosts = entriesOf(environment[HOSTS_VARIABLE]).map((entry) => entry.toLowerCase());
  const badHost = hosts.find((host) => !HOST_NAME.test(host));
  if (badHost !== undefined) throw unreadable(HOSTS_VARIABLE, badHost, "host names without a port");
  const origins = entriesOf(environment[ORIGINS_VARIABLE]);
  const badOrigin = origins.find((origin) => parsed(origin)?.origin !== origin);
  if (badOrigin !== undefined) throw unreadable(ORIGINS_VARIABLE, badOrigin, "origins");
  const publicUrl = parsed(environment[PUBLIC_URL_VARIABLE] ?? "");
  if (publicUrl === null) return { hosts, origins };
  return { hosts: [...hosts, publicUrl.hostname], origins: [...origins, publicUrl.origin] };
}

/** What a request says about who sent it. */
export interface RequestSource {
  /** The `Host` header and the host of the address, with their ports. */
  readonly hosts: readonly string[];
  /** The `Origin` header. Null: no page sent it, or one that cannot read the response. */
  readonly origin: string | null;
}

/**
 * Returns the refusal of a request that a page of another site caused, or null. Browsers name the
 * page's origin in every request that another origin can read, in every WebSocket handshake and in
 * every request that is not a GET or HEAD. A host name that is not loopback leads here by DNS
 * rebinding: to the browser, the page and this port then have one origin.
 */
export function refusalOf(
  { hosts, origin }: RequestSource,
  callers: LocalCallers,
): Response | null {
  const names = hosts.map((host) => parsed(`http://${host}`)?.hostname ?? host);
  const name = names.find((name) => !LOOPBACK_HOST.test(name) && !callers.hosts.includes(name));
  if (name !== undefined) {
    return refusal(
      "HOST_FORBIDDEN",
      `Cannot answer the request: the host ${JSON.stringify(name)} is not this machine`,
      `Use 127.0.0.1 or localhost, or add the host to ${HOSTS_VARIABLE}.`,
    );
  }
  if (origin === null || callers.origins.includes(origin)) return null;
  const page = parsed(origin);
  if (page !== null && LOOPBACK_HOST.test(page.hostname)) return null;
  return refusal(
    "ORIGIN_FORBIDDEN",
    `Cannot answer the request: pages of the origin ${
      JSON.stringify(origin)
    } may not use this port`,
    `Open the page from localhost, or add its origin to ${ORIGINS_VARIABLE}.`,
  );
}

/** Options of {@linkcode serveLocally}. */
export interface LocalServerOptions {
  /** 0 takes any free port. @default 0 */
  readonly port?: number;
  /** @default only loopback */
  readonly callers?: LocalCallers;
  readonly signal?: AbortSignal;
  /**
   * Compresses text for callers that accept it, in parts as it streams. Streams of events stay as
   * they are. @default false
   */
  readonly compresses?: boolean;
}

/**
 * Serves on 127.0.0.1, for programs of this machine and for pages that may use it.
 *
 * @throws Deno.errors.AddrInUse when the port is in use.
 */
export function serveLocally(
  { port = 0, callers = LOOPBACK_CALLERS, signal, compresses = false }: LocalServerOptions,
  handler: Deno.ServeHandler<Deno.NetAddr>,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({
    hostname: "127.0.0.1",
    port,
    onListen: () => {},
    automaticCompression: compresses,
    ...(signal === undefined ? {} : { signal }),
  }, (request, info) => refusalOf(sourceOf(request), callers) ?? handler(request, info));
}

function sourceOf({ url, headers }: Request): RequestSource {
  const { host } = new URL(url);
  return { hosts: [host, headers.get("host") ?? host], origin: headers.get("origin") };
}

function entriesOf(text: string | undefined): readonly string[] {
  return (text ?? "").split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
}

function parsed(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function refusal(code: string, message: string, hint: string): Response {
  return Response.json({ error: { code, message, hint } }, { status: 403 });
}

function unreadable(name: string, entry: string, form: string): SwarmError {
  return new SwarmError("CONFIG_INVALID", `Cannot read ${name}: it contains '${entry}'`, {
    hint: `Set it to ${form}, separated by commas, or remove it.`,
  });
}
