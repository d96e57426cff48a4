import { OAUTH_LIMITS } from "../../../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../../platform/json/parse_json.ts";
import { isJsonObject, type JsonObject } from "../../../../platform/values/json.ts";
import type { createOAuthFetch } from "./oauth_fetch.ts";
import { withoutTrailing } from "../../../../platform/values/without_trailing.ts";

type Send = ReturnType<typeof createOAuthFetch>;

/** A tool server's metadata (RFC 9728); every member may be absent. */
export interface ResourceMetadata {
  readonly resource: string | null;
  readonly authorizationServers: readonly string[];
  readonly scope: string | null;
}

/**
 * Reads the metadata of a tool server: from the address in its challenge, otherwise from the
 * well-known ones. Null if it has none.
 */
export async function readResourceMetadata(
  serverUrl: string,
  named: URL | undefined,
  send: Send,
): Promise<ResourceMetadata | null> {
  const { origin, pathname, search } = new URL(serverUrl);
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const found = await firstDocument([
    ...(named === undefined ? [] : [named.href]),
    `${wellKnown}${withoutTrailing(pathname, "/")}${search}`,
    wellKnown,
  ], send);
  if (found === null) return null;
  const { resource, authorization_servers: servers, scopes_supported: scopes } = found;
  const scope = textsIn(scopes).join(" ");
  return {
    resource: typeof resource === "string" ? resource : null,
    authorizationServers: textsIn(servers),
    scope: scope === "" ? null : scope,
  };
}

/**
 * Reads the metadata of an authorization server (RFC 8414, OpenID Connect Discovery), with its
 * well-known path before and after the path of its name. Null if it has none.
 */
export async function readServerMetadata(issuer: string, send: Send): Promise<JsonObject | null> {
  const { origin, pathname } = new URL(issuer);
  const path = withoutTrailing(pathname, "/");
  return await firstDocument([
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}${path}/.well-known/oauth-authorization-server`,
  ], send);
}

/** The texts of a list, or of a text that lists them itself. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.split(/[\s,]+/).filter((text) => text !== "");
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

async function firstDocument(urls: readonly string[], send: Send): Promise<JsonObject | null> {
  for (const url of new Set(urls)) {
    const response = await send(url, { headers: { accept: "application/json" } });
    const text = await response.text();
    const document = response.ok ? parseJsonOrUndefined(text, OAUTH_LIMITS) : undefined;
    if (isJsonObject(document)) return document;
  }
  return null;
}
