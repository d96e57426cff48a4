import type { McpServerConfig } from "../tool_contracts/tool_config.ts";
import { credentialKeyOf, type McpEntry } from "./mcps_file_schema.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { placeholderIn } from "./placeholder.ts";

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
  readonly audience: McpEntry["audience"];
  readonly is_active: boolean;
}

/** A secret that an entry copies from the environment to Vault. */
export interface WantedSecret {
  readonly name: string;
  readonly variable: string;
  /** In the entry's `credentials`. */
  readonly key: string;
}

/** The row and the secrets of an entry. */
export interface WantedServer {
  readonly slug: string;
  /** Null for a disabled entry: an existing row is only set inactive. */
  readonly row: ServerRow | null;
  readonly secrets: readonly WantedSecret[];
}

/** Returns the name in Vault of an entry's secret. */
export type NameSecret = (slug: string, key: string) => string;

/** Converts an entry to its row and secrets. @param nameSecret Default: the names of the file's */
export function wantedServer(
  { slug, entry }: { readonly slug: string; readonly entry: McpEntry },
  nameSecret: NameSecret = secretOfFile,
): WantedServer {
  if (!entry.enabled || entry.url === undefined) return { slug, row: null, secrets: [] };
  const secrets = Object.entries(entry.credentials)
    .map(([key, variable]) => ({ name: nameSecret(slug, key), variable, key }));
  const nameOf = (key: string) => nameSecret(slug, key);
  return { slug, secrets, row: rowOf(entry, entry.url, nameOf) };
}

/** The name in Vault of a secret of one entry. */
type NameOf = (key: string) => string;

function rowOf(entry: McpEntry, url: string, nameOf: NameOf): ServerRow {
  const key = credentialKeyOf(entry);
  return {
    name: entry.name,
    description: entry.description ?? null,
    config: configOf(entry, url, nameOf),
    credential_secret_name: key === undefined ? null : nameOf(key),
    credential_type: key === undefined ? null : key === "token_env" ? "bearer_token" : "api_key",
    credential_description: key === undefined
      ? null
      : `From ${entry.credentials[key]}, by external-mcps.yaml`,
    audience: entry.audience,
    is_active: true,
  };
}

function configOf(entry: McpEntry, url: string, nameOf: NameOf): McpServerConfig {
  const config = {
    mcp_url: url,
    auth: entry.auth,
    oauth: oauthOf(entry, nameOf),
    headers: valuesOf(entry.headers, nameOf),
    query: valuesOf(entry.query, nameOf),
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

function oauthOf({ oauth }: McpEntry, nameOf: NameOf) {
  if (oauth?.client_secret === undefined) return oauth;
  return { ...oauth, client_secret: valueOf(oauth.client_secret, nameOf) };
}

function valuesOf(values: Readonly<Record<string, string>>, nameOf: NameOf) {
  if (Object.keys(values).length === 0) return undefined;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, valueOf(value, nameOf)]),
  );
}

function valueOf(value: string, nameOf: NameOf) {
  const placeholder = placeholderIn(value);
  if (placeholder === null || placeholder === "malformed") return value;
  const { key, prefix } = placeholder;
  const secret = nameOf(key);
  return prefix === "" ? { secret } : { secret, prefix };
}

function secretOfFile(slug: string, key: string): string {
  return `${SECRET_PREFIX}${slug}/${key.replace(/_env$/, "")}`;
}

/** A row as the document of its server, as `operator_save_definition()` takes it. */
export function serverDocument(row: ServerRow): JsonObject {
  const { name, description, config, audience, credential_secret_name: secret } = row;
  return JSON.parse(JSON.stringify({
    display_name: name,
    description: description ?? undefined,
    config,
    audience: audience === "granted" ? undefined : audience,
    credential: secret === null ? undefined : {
      secret,
      type: row.credential_type,
      description: row.credential_description,
    },
  }));
}
