import type { RegistryPackage } from "./registry_document.ts";

/** Port of the bridge in the hints. */
const BRIDGE_PORT = 8808;

/** Explains how to run a package behind a bridge that serves Streamable HTTP on loopback. */
export function bridgeHint(server: RegistryPackage): string {
  const command = commandOf(server);
  if (command === null) {
    return `  ${
      JSON.stringify(server.identifier)
    } (${server.registryType}): start it as its maker ` +
      "says, behind npx -y mcp-proxy";
  }
  const variables = server.environmentVariables ?? [];
  const names = variables.filter(({ isRequired }) => isRequired === true).map(({ name }) => name);
  const needs = names.length === 0 ? "" : `\n    with ${names.join(", ")} in its environment`;
  return `  npx -y mcp-proxy --host 127.0.0.1 --port ${BRIDGE_PORT} --server stream -- ${command}` +
    `${needs}\n    then url: http://127.0.0.1:${BRIDGE_PORT}/mcp`;
}

/** A valid name or version is one word of a command line. */
const WORD = /^[A-Za-z0-9@._:/+-]+$/;

/** Returns the command that starts a package; null for an unsupported kind. */
function commandOf({ registryType, identifier, version }: RegistryPackage): string | null {
  if (!WORD.test(identifier) || !WORD.test(version ?? "0")) return null;
  switch (registryType) {
    case "npm":
      return `npx -y ${identifier}${version === undefined ? "" : `@${version}`}`;
    case "pypi":
      return `uvx ${identifier}${version === undefined ? "" : `==${version}`}`;
    case "nuget":
      return `dnx ${identifier}${version === undefined ? "" : `@${version}`}`;
    case "oci":
      return `docker run -i --rm ${identifier}${
        version === undefined || identifier.includes(":") ? "" : `:${version}`
      }`;
    default:
      return null;
  }
}
