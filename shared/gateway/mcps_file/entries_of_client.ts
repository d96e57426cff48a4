import { nameToSlug, nameToVariable } from "../../platform/values/name_to_slug.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { SECRET_NAME } from "./secret_name.ts";

/** The servers of another client's settings, as `external-mcps.yaml` would have them. */
export interface ClientEntries {
  /** To be checked like a handwritten file. */
  readonly mcps: Readonly<Record<string, JsonObject>>;
  /** Secrets that the settings contain, by the variable that stands for each. */
  readonly values: Readonly<Record<string, string>>;
  /** Servers that cannot be reached over HTTP, each with the reason. */
  readonly skipped: readonly { readonly slug: string; readonly reason: string }[];
}

/** A reference to a variable: `${NAME}`, `${env:NAME}` or `${input:name}`. */
const REFERENCE = /^(.*)\$\{(?:env:|input:)?([A-Za-z_][A-Za-z0-9_-]*)\}$/;
const BEARER = /^(Bearer\s+)(.+)$/i;

/**
 * Converts the `mcpServers` (or `servers`) of another client's JSON; null if the value has none.
 * Secrets leave the entries and become values of variables.
 */
export function entriesOfClient(value: JsonValue): ClientEntries | null {
  const servers = serversOf(value);
  if (servers === null) return null;
  const mcps: Record<string, JsonObject> = {};
  const values: Record<string, string> = {};
  const skipped: { slug: string; reason: string }[] = [];
  for (const [name, server] of Object.entries(servers)) {
    const slug = nameToSlug(name);
    const settings = isJsonObject(server) ? server : {};
    const url = [settings.url, settings.serverUrl, settings.httpUrl]
      .find((one) => typeof one === "string");
    if (url === undefined) skipped.push({ slug, reason: reasonOf(settings) });
    else mcps[slug] = entryOf(name, url, settings, values);
  }
  return { mcps, values, skipped };
}

function serversOf(value: JsonValue): JsonObject | null {
  if (!isJsonObject(value)) return null;
  const { mcpServers, servers, mcp } = value;
  const found = mcpServers ?? servers ??
    (isJsonObject(mcp ?? null) ? serversOf(mcp ?? null) : null);
  return isJsonObject(found) ? found : null;
}

function reasonOf({ command }: JsonObject): string {
  return command === undefined
    ? "has no url"
    : "is a command on one machine; serve it over HTTP with a bridge, see " +
      "docs/how-to/connect-external-mcp-servers.md";
}

function entryOf(
  name: string,
  url: string,
  settings: JsonObject,
  values: Record<string, string>,
): JsonObject {
  const credentials: Record<string, string> = {};
  const headers: Record<string, string> = {};
  let auth: JsonObject | undefined;
  for (const [header, value] of Object.entries(headersOf(settings))) {
    const secret = secretOf(`${name}_${header}`, header, value);
    if (secret === null) {
      headers[header] = value;
      continue;
    }
    const { variable, prefix } = secret;
    if (secret.value !== null) values[variable] = secret.value;
    if (auth === undefined) {
      credentials[/^bearer\s/i.test(prefix) ? "token_env" : "api_key_env"] = variable;
      auth = { in: "header", name: header, ...prefix === "" ? {} : { prefix } };
    } else {
      const key = `${header.toLowerCase().replace(/[^a-z0-9]+/g, "_")}_env`;
      credentials[key] = variable;
      headers[header] = `${prefix}{{${key}}}`;
    }
  }
  return {
    name,
    url,
    enabled: settings.disabled !== true,
    ...auth === undefined ? {} : { auth },
    credentials,
    headers,
  };
}

function headersOf({ headers }: JsonObject): Record<string, string> {
  const given = isJsonObject(headers ?? null) ? Object.entries(headers ?? {}) : [];
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** The secret at the end of a header's value; null if there is none. */
function secretOf(fallback: string, header: string, value: string) {
  const [, before, reference] = REFERENCE.exec(value) ?? [];
  if (before !== undefined && reference !== undefined) {
    return { variable: nameToVariable(reference), prefix: before, value: null };
  }
  if (!SECRET_NAME.test(header)) return null;
  const [, prefix = "", secret = value] = BEARER.exec(value) ?? [];
  return { variable: nameToVariable(fallback), prefix, value: secret };
}
