import { listOf, type Part, partOf, textOf } from "./openapi_parts.ts";
import type { Operation } from "./openapi_operations.ts";

/** The address of a server, or why it is not known. */
export type ServerUrl =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "unknown"; readonly problem: string };

const HINT = "pass --server with the address of the API";

/** What is known beside the document. */
export interface ServerChoices {
  /** Where the document is from; a relative address is one of a URL. */
  readonly source: string;
  /** The address that the user gives; without a path, it completes a relative one. */
  readonly server: string | undefined;
}

/** The address of an operation's server. */
export function serverUrl(
  document: Part,
  operation: Operation,
  { source, server: given }: ServerChoices,
): ServerUrl {
  const server = partOf(operation.servers[0]);
  const path = textOf(server.url);
  if (given !== undefined) {
    const completes = /^\/[^{}]*$/.test(path) && /^https?:\/\/[^/]+\/?$/i.test(given);
    return completes ? absolute(path, given) : absolute(given, "");
  }
  const written = operation.servers.length > 0 ? textOf(server.url) : addressOfVersion2(document);
  const variables = partOf(server.variables);
  const missing: string[] = [];
  const filled = written.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = partOf(variables[name]);
    const value = textOf(variable.default) || textOf(listOf(variable.enum)[0]);
    if (value === "") missing.push(name);
    return value;
  });
  if (missing.length > 0) {
    return {
      kind: "unknown",
      problem: `its server needs a value of ${missing.join(", ")}; ${HINT}`,
    };
  }
  return absolute(filled, source);
}

function absolute(url: string, source: string): ServerUrl {
  const base = /^https?:\/\//i.test(source) ? source : undefined;
  const withHost = /^[\w-]+(\.[\w-]+)+([:/]|$)/.test(url) ? `https://${url}` : url;
  const parsed = URL.parse(withHost, base);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    const what = url === "" ? "the document names no server" : `its server ${url} has no host`;
    return { kind: "unknown", problem: `${what}; ${HINT}` };
  }
  return { kind: "url", url: `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, "") };
}

function addressOfVersion2(document: Part): string {
  const host = textOf(document.host);
  const path = textOf(document.basePath);
  if (host === "") return path;
  const schemes = listOf(document.schemes).map(textOf);
  return `${schemes.find((one) => one === "https") ?? schemes[0] ?? "https"}://${host}${path}`;
}
