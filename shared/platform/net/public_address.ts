import ipaddr from "../../vendor/ipaddr.js";

/** The kind of network that an IP address belongs to. */
export type AddressReach = "public" | "loopback" | "private" | "forbidden";

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
export function addressReach(address: string): AddressReach {
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
