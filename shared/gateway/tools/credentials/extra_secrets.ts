import { definedOnly } from "../../../platform/values/defined_only.ts";
import { type Credential, secretLabel } from "../../tool_contracts/credential.ts";
import type { McpServerConfig, ToolConfig } from "../../tool_contracts/tool_config.ts";
import type { CredentialUse, SecretSource } from "../../tool_contracts/tool_store.ts";

type Values = NonNullable<McpServerConfig["headers"]>;

/** The literal values in a config. */
export function plainValues(values: Values = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : []
    ),
  );
}

/**
 * The additional secrets of a config's headers and query, read from Vault. They are held in memory
 * for one call only, like the credential.
 *
 * @throws SwarmError `SECRET_NOT_FOUND` with the first one missing in Vault, `CREDENTIAL_REQUIRED`
 * if they do not apply to the user.
 */
export async function resolveExtraSecrets(
  { type, config }: ToolConfig,
  use: CredentialUse,
  source: Pick<SecretSource, "resolveNamedSecrets">,
): Promise<readonly Credential[]> {
  if (type !== "mcp_server") return [];
  const references = [
    ...referencesOf("header", config.headers),
    ...referencesOf("query", config.query),
  ];
  if (references.length === 0) return [];
  const names = references.map(({ secretName }) => secretName);
  const values = await source.resolveNamedSecrets(names, use);
  return references.map(({ secretName, placement }) => ({
    label: secretLabel(secretName),
    placement,
    secret: values[secretName] ?? "",
  }));
}

function referencesOf(
  place: "header" | "query",
  values: Values = {},
): { readonly secretName: string; readonly placement: Credential["placement"] }[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (typeof value === "string") return [];
    const { secret: secretName, prefix } = value;
    const placement = { in: place, name, ...definedOnly({ prefix }) };
    return [{ secretName, placement }];
  });
}
