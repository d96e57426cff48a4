import type { ResolveHost } from "../../shared/platform/net/url_policy.ts";

/** An address of the public internet; nothing is ever sent to it. */
export const PUBLIC_ADDRESS = "93.184.215.14";

/** Notations of loopback and private addresses, as a URL's host. */
export const PRIVATE_HOSTS = [
  // Loopback, in every notation that URL parsers and resolvers understand.
  ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.8.8.8"],
  ...["localhost", "localhost.", "LOCALHOST", "a.localhost", "１２７.0.0.1", "127。0。0。1"],
  ...["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]"],
  // IPv4 inside IPv6: NAT64, its local form, 6to4, Teredo.
  ...["[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]"],
  ...["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[fd12::1]", "[fec0::1]"],
  ...[
    "100.64.0.1",
    "0.0.0.0",
    "0",
    "[::]",
    "192.0.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
  ],
  ...["inside.example", "six.example", "half.example"],
];

/** Link-local addresses and cloud metadata services: always blocked for everyone. */
export const FORBIDDEN_HOSTS = [
  ...["169.254.169.254", "169.254.1.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376"],
  ...["[fe80::1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]"],
  ...["[fd00:ec2::254]", "[fd20:ce::254]", "[fd00:c1::a9fe:a9fe]", "[fd00:42::42]"],
  ...["100.100.100.200", "168.63.129.16", "192.0.0.192", "metadata.google.internal"],
];

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "inside.example": ["10.0.0.1"],
  "six.example": ["::1"],
  "half.example": [PUBLIC_ADDRESS, "127.0.0.1"],
  "metadata.google.internal": ["169.254.169.254"],
};

/** A resolver that knows the names above; every other name resolves to a public address. */
export function resolveHost(host: string): ReturnType<ResolveHost> {
  return Promise.resolve(ADDRESSES[host] ?? [PUBLIC_ADDRESS]);
}
