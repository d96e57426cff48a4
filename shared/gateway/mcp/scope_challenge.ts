import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import { asJsonObject } from "../../platform/values/json.ts";

/**
 * The `WWW-Authenticate` header of a 403 for missing scopes (RFC 6750): it lists all scopes that
 * the operation needs, so that a client asks its user only once.
 */
export function scopeChallenge(error: SwarmError, resourceMetadataUrl: string): string {
  const { scopes, missing_scopes } = asJsonObject(error.details);
  const named = scopes ?? missing_scopes;
  const needed = Array.isArray(named) ? named.map(String) : [];
  return [
    'Bearer error="insufficient_scope"',
    `error_description=${quoted(error.message)}`,
    ...(needed.length === 0 ? [] : [`scope=${quoted(needed.join(" "))}`]),
    `resource_metadata=${quoted(resourceMetadataUrl)}`,
  ].join(", ");
}

function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7E]/g, " ").replace(/["\\]/g, "\\$&")}"`;
}
