import { withoutTrailing } from "../../../../platform/values/without_trailing.ts";

/**
 * Whether two names of an authorization server are the same but for what URLs leave open: a
 * terminating slash, letters of the host and the default port. RFC 8414 removes the slash before it
 * looks the metadata up, so that servers write their name with and without it.
 */
export function isSameIssuer(one: string, other: string): boolean {
  return toComparable(one) === toComparable(other);
}

function toComparable(issuer: string): string {
  if (!URL.canParse(issuer)) return issuer;
  const { href } = new URL(issuer);
  return withoutTrailing(href, "/");
}

/** The issuer that a tool server names by itself or by the address of its metadata. */
export function issuerOf(named: string): string {
  return named.replace(/\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/, "");
}
