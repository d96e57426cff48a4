import { lookup } from "node:dns/promises";
import { SwarmError } from "../errors/swarm_error.ts";
import ipaddr from "../../vendor/ipaddr.js";

/** Resolves a host name; rejects or returns none if it has no addresses. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The addresses that a request may reach. */
export interface UrlPolicy {
  /**
   * Whether loopback and private networks may be reached, by plain `http` too
   * (`SUPASWARM_ALLOW_LOOPBACK`). Link-local and metadata addresses never are.
   */
  readonly allowLoopback: boolean;
  /** @default the system's resolver, the one that connections use */
  readonly resolveHost?: ResolveHost;
}

/**
 * Checks that a URL points to the public internet (or to a private network, if the policy allows
 * it) and returns the parsed URL. All addresses of the name must pass, not just one.
 *
 * The connection resolves the name again. If the name points to a private address by then, the
 * connection fails: public names require https, and a private server does not have the certificate.
 * Its duration can still reveal that a connection was tried; an egress proxy is the remedy where
 * that matters.
 *
 * @throws SwarmError `TOOL_ADDRESS_FORBIDDEN` for a scheme, form or address that is not allowed,
 * `TOOL_UNAVAILABLE` if the name does not resolve.
 */
export async function assertUrlAllowed(url: string | URL, policy: UrlPolicy): Promise<URL> {
  const parsed = parseUrl(url);
  const host = hostOf(parsed);
  const reaches = new Set((await addressesOf(host, policy)).map(addressReach));
  const isInside = reaches.has("loopback") || reaches.has("private");
  if (reaches.has("forbidden") || (isInside && !policy.allowLoopback)) {
    throw forbidden(parsed, "it leads to a loopback, private, link-local or metadata address");
  }
  if (isInside && reaches.has("public")) {
    throw forbidden(parsed, "its name has both private and public addresses");
  }
  if (parsed.protocol === "http:" && !isInside) {
    throw forbidden(parsed, "plain http is not allowed on the public internet");
  }
  return parsed;
}

function parseUrl(url: string | URL): URL {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw new SwarmError("TOOL_ADDRESS_FORBIDDEN", "Cannot send the request: it has no valid URL", {
      hint: "Write an absolute https URL.",
      cause,
    });
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    throw forbidden(parsed, `its scheme is '${parsed.protocol.slice(0, -1)}', not https`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw forbidden(parsed, "it contains a user name or password");
  }
  return parsed;
}

/** The host in the resolver's form: no brackets, no trailing dot. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "").toLowerCase();
}

async function addressesOf(host: string, policy: UrlPolicy): Promise<readonly string[]> {
  // These names mean loopback regardless of DNS (RFC 6761).
  if (host === "localhost" || host.endsWith(".localhost")) return ["127.0.0.1"];
  if (isAddress(host)) return [host];
  const resolveHost = policy.resolveHost ?? systemResolveHost;
  let addresses: readonly string[] = [];
  let cause: unknown;
  try {
    addresses = await resolveHost(host);
  } catch (error) {
    cause = error;
  }
  if (addresses.length > 0) return addresses;
  throw new SwarmError("TOOL_UNAVAILABLE", `Cannot reach '${host}': the name does not resolve`, {
    hint: "Check the host name in the registered URL.",
    cause,
  });
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

async function systemResolveHost(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map((entry) => entry.address);
}

function forbidden(url: URL, reason: string): SwarmError {
  return new SwarmError(
    "TOOL_ADDRESS_FORBIDDEN",
    `Cannot send a request to '${url.protocol}//${url.host}': ${reason}`,
    { hint: "Register an https URL that is reachable on the public internet." },
  );
}

/** The kind of network that an IP address belongs to. */
type AddressReach = "public" | "loopback" | "private" | "forbidden";

/**
 * Ranges that `ipaddr.js` classifies as unicast but that are internal: deprecated IPv4-compatible
 * and site-local IPv6, locally-used NAT64 (RFC 8215), and Azure's host agent, which answers on a
 * public-looking address.
 */
const INSIDE_RANGES = ["::/96", "fec0::/10", "64:ff9b:1::/48", "168.63.129.16/32"]
  .map((range) => ipaddr.parseCIDR(range));

/** Instance metadata services on IPv6, inside the private range: AWS, Google, Oracle, Scaleway. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  ...["fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42"],
]);

/**
 * Classifies an address: on the public internet, on this machine, in a private network, or
 * forbidden for every registered URL: link-local, carrier-grade NAT, cloud metadata, multicast,
 * reserved, and every IPv6 form that carries an IPv4 address inside (mapped, NAT64, 6to4, Teredo).
 *
 * @param address An IPv4 or IPv6 address; anything else is `forbidden`.
 */
function addressReach(address: string): AddressReach {
  if (!ipaddr.isValid(address)) return "forbidden";
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range === "loopback") return "loopback";
  if (METADATA_ADDRESSES.has(parsed.toString())) return "forbidden";
  if (range === "private" || range === "uniqueLocal") return "private";
  if (range !== "unicast") return "forbidden";
  const isInside = INSIDE_RANGES.some(([network, bits]) =>
    network.kind() === parsed.kind() && parsed.match(network, bits)
  );
  return isInside ? "forbidden" : "public";
}
