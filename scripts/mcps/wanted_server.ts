import type { McpServerConfig } from "../../shared/gateway/tool_contracts/tool_config.ts";
import { credentialKeyOf, type McpEntry } from "./mcps_file_schema.ts";
import { placeholderIn } from "./placeholder.ts";
import type { ReadEntry } from "./read_mcps_file.ts";

/** Prefix of the names of all secrets in Vault that the file creates and removes. */
export const SECRET_PREFIX = "supaswarm/mcp/";

/** The columns of `tools` that an entry sets. */
export interface ServerRow {
  readonly name: string;
  readonly description: string | null;
  readonly config: McpServerConfig;
  readonly credential_secret_name: string | null;
  readonly credential_type: "api_key" | "bearer_token" | null;
  readonly credential_description: string | null;
  readonly is_active: boolean;
}

/** A secret that an entry copies from the environment to Vault. */
export interface WantedSecret {
  readonly name: string;
  readonly variable: string;
  /** Line of the variable in the file. */
  readonly line: number;
}

/** The row and the secrets of an entry. */
export interface WantedServer {
  readonly slug: string;
  readonly line: number;
  /** Null for a disabled entry: an existing row is only set inactive. */
  readonly row: ServerRow | null;
  readonly secrets: readonly WantedSecret[];
}

/** Converts an entry to its row and secrets. */
export function wantedServer({ slug, entry, line, credentialLine }: ReadEntry): WantedServer {
  if (!entry.enabled || entry.url === undefined) return { slug, line, row: null, secrets: [] };
  const secrets = Object.entries(entry.credentials).map(([key, variable]) => ({
    name: secretName(slug, key),
    variable,
    line: credentialLine(key),
  }));
  return { slug, line, secrets, row: rowOf(slug, entry, entry.url) };
}

function rowOf(slug: string, entry: McpEntry, url: string): ServerRow {
  const key = credentialKeyOf(entry);
  return {
    name: entry.name,
    description: entry.description ?? null,
    config: configOf(slug, entry, url),
    credential_secret_name: key === undefined ? null : secretName(slug, key),
    credential_type: key === undefined ? null : key === "token_env" ? "bearer_token" : "api_key",
    credential_description: key === undefined
      ? null
      : `From ${entry.credentials[key]}, by external-mcps.yaml`,
    is_active: true,
  };
}

function configOf(slug: string, entry: McpEntry, url: string): McpServerConfig {
  const config = {
    mcp_url: url,
    auth: entry.auth,
    oauth: oauthOf(slug, entry),
    headers: valuesOf(slug, entry.headers),
    query: valuesOf(slug, entry.query),
    allowed_tools: entry.allowed_tools,
    docs_url: entry.docs_url,
    capabilities: entry.capabilities,
    trust_annotations: entry.trust_annotations,
    new_tools: entry.new_tools,
    trusted: entry.trusted,
    timeout_ms: entry.timeout_ms,
  };
  // Same order as in the database, so that it can be compared.
  return JSON.parse(JSON.stringify(config));
}

function oauthOf(slug: string, { oauth }: McpEntry) {
  if (oauth?.client_secret === undefined) return oauth;
  return { ...oauth, client_secret: valueOf(slug, oauth.client_secret) };
}

function valuesOf(slug: string, values: Readonly<Record<string, string>>) {
  if (Object.keys(values).length === 0) return undefined;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, valueOf(slug, value)]),
  );
}

function valueOf(slug: string, value: string) {
  const placeholder = placeholderIn(value);
  if (placeholder === null || placeholder === "malformed") return value;
  const { key, prefix } = placeholder;
  const secret = secretName(slug, key);
  return prefix === "" ? { secret } : { secret, prefix };
}

function secretName(slug: string, key: string): string {
  return `${SECRET_PREFIX}${slug}/${key.replace(/_env$/, "")}`;
}
