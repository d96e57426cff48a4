import { withoutEmpty } from "../../shared/platform/values/without_empty.ts";
import { nameToSlug, nameToVariable } from "../../shared/platform/values/name_to_slug.ts";
import { CommandError } from "../cli/run_command.ts";
import { bridgeHint } from "./bridge_hint.ts";
import type { RegistryInput, RegistryRemote, RegistryServer } from "./registry_document.ts";

/** An entry of `external-mcps.yaml` from a registry description. */
export interface ImportedEntry {
  readonly slug: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** Notes for the operator, one sentence each. */
  readonly notes: readonly string[];
}

/** Values that the description does not define. */
export interface ImportOptions {
  /** @default from the server's name */
  readonly slug?: string | undefined;
  /** Values of variables of the URL. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The values collected from a remote's headers and query. */
interface Collected {
  readonly slug: string;
  readonly credentials: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly query: Record<string, string>;
  auth: { in: "header" | "query"; name: string; prefix?: string } | null;
  readonly notes: string[];
}

/**
 * Creates an entry from a server's description, for its first remote with Streamable HTTP. Replaces
 * every secret with the name of an environment variable.
 *
 * @throws CommandError for a server that only runs locally, with instructions for a bridge, and for
 * a variable of the URL without a value.
 */
export function entryOfRegistry(server: RegistryServer, options: ImportOptions): ImportedEntry {
  const remote = server.remotes?.find(({ type }) => type === "streamable-http");
  if (remote === undefined) throw new CommandError(notRemote(server));
  const slug = options.slug ?? slugOf(server.name);
  const collected: Collected = {
    slug,
    credentials: {},
    headers: {},
    query: {},
    auth: null,
    notes: [],
  };
  const url = takeUrl(remote, options.variables, collected);
  for (const header of remote.headers ?? []) {
    takeValue("header", header.name, withVariables(header, options.variables), collected);
  }
  const { credentials, headers, query, auth, notes } = collected;
  for (const variable of Object.values(credentials)) {
    notes.push(`Add ${variable} to .env before you sync.`);
  }
  return {
    slug,
    notes,
    entry: withoutEmpty({
      name: server.title ?? server.name,
      description: server.description,
      url,
      docs_url: server.websiteUrl ?? server.repository?.url,
      credentials,
      auth,
      headers,
      query,
    }),
  };
}

function slugOf(name: string): string {
  const slug = nameToSlug(name.split("/").at(-1) ?? "");
  if (slug !== "") return slug;
  throw new CommandError(`Cannot derive a key from '${name}': pass one with --slug`);
}

/** Returns the address without secrets in its query. */
function takeUrl(
  { url, variables = {} }: RegistryRemote,
  given: Readonly<Record<string, string>>,
  collected: Collected,
): string {
  const [address = "", search = ""] = url.split("?", 2);
  for (const [name, value] of new URLSearchParams(search)) {
    const [, prefix, variable = ""] = /^(.*)\{([^{}]+)\}$/.exec(value) ?? [];
    const input = variables[variable];
    const isSecret = input?.isSecret === true && given[variable] === undefined;
    const template = isSecret
      ? { ...input, value: prefix }
      : { value: fill(value, variables, given) };
    takeValue("query", name, isSecret ? { ...template, isSecret } : template, collected);
  }
  return fill(address, variables, given);
}

function fill(
  template: string,
  variables: Readonly<Record<string, RegistryInput>>,
  given: Readonly<Record<string, string>>,
): string {
  return template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = given[name] ?? variables[name]?.value ?? variables[name]?.default;
    if (value !== undefined) return value;
    const choices = variables[name]?.choices;
    const among = choices === undefined ? "" : `, one of ${choices.join(", ")}`;
    throw new CommandError(
      `Cannot import: the address needs {${name}}. Pass --set ${name}=VALUE${among}`,
    );
  });
}

/** Fills the variables of a header's value. A secret at its end becomes a credential. */
function withVariables(
  header: NonNullable<RegistryRemote["headers"]>[number],
  given: Readonly<Record<string, string>>,
): RegistryInput {
  const { value, variables = {} } = header;
  const names = [...(value ?? "").matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  const open = names.filter((name) =>
    given[name] === undefined && (variables[name]?.value ?? variables[name]?.default) === undefined
  );
  if (value === undefined) return header;
  if (open.length === 0) return { ...header, value: fill(value, variables, given) };
  const [, prefix = "", last] = /^([^{}]*)\{([^{}]+)\}$/.exec(value) ?? [];
  // Unless the value is text with one variable at its end, the whole value is the secret.
  return { ...header, isSecret: true, value: last === undefined ? "" : prefix };
}

/** Adds one header or query entry. For a secret, `value` is the text before it. */
function takeValue(
  place: "header" | "query",
  name: string,
  { value, default: fallback, isSecret, isRequired, description }: RegistryInput,
  collected: Collected,
): void {
  const values = place === "header" ? collected.headers : collected.query;
  const plain = value ?? fallback;
  if (isSecret !== true && plain !== undefined) {
    values[name] = plain;
    return;
  }
  if (isSecret !== true && isRequired !== true) {
    collected.notes.push(`Omitted the optional ${place} ${name}${about(description)}.`);
    return;
  }
  const isBearer = place === "header" && name.toLowerCase() === "authorization";
  const prefix = value ?? (isBearer ? "Bearer " : "");
  if (isSecret === true && collected.auth === null) {
    collected.auth = { in: place, name, ...(prefix === "" ? {} : { prefix }) };
    const kind = isBearer ? "token" : "api_key";
    collected.credentials[`${kind}_env`] = variableOf(collected.slug, kind);
    return;
  }
  const what = name.toLowerCase().replace(/^x-/, "").replace(/[^a-z0-9]+/g, "_");
  values[name] = `${prefix}{{${addCredential(what, collected)}}}`;
}

/** Credential keys for `auth`, which headers and query entries cannot use. */
const AUTH_KEYS: ReadonlySet<string> = new Set(["api_key_env", "token_env"]);

/** Adds a credential, with a number in its name if the name is already used. */
function addCredential(what: string, { slug, credentials }: Collected): string {
  for (let number = 1;; number++) {
    const numbered = number === 1 ? what : `${what}_${number}`;
    const key = `${numbered}_env`;
    if (Object.hasOwn(credentials, key) || AUTH_KEYS.has(key)) continue;
    credentials[key] = variableOf(slug, numbered);
    return key;
  }
}

function variableOf(slug: string, what: string): string {
  const name = `${slug}_mcp_${what}`;
  return nameToVariable(/^\d/.test(name) ? `mcp_${name}` : name);
}

function about(description: string | undefined): string {
  return description === undefined ? "" : ` (${description.replace(/\.$/, "")})`;
}

function notRemote({ name, remotes = [], packages = [] }: RegistryServer): string {
  const bridges = packages.map(bridgeHint);
  if (bridges.length > 0) {
    return `'${name}' runs locally and uses stdio. Run it behind a bridge ` +
      `(Node 22 or newer), and register the bridge's URL:\n${bridges.join("\n")}`;
  }
  return remotes.length > 0
    ? `'${name}' only supports ${remotes.map(({ type }) => type).join(" and ")}, which is no ` +
      "longer part of the protocol. Ask its provider for Streamable HTTP"
    : `'${name}' has neither remotes nor packages`;
}
