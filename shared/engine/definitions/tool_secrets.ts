import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";

/** The secrets that a tool sends, and where. */
export interface ToolSecrets {
  /** The host of its URL, with a port that is not the default one. */
  readonly host: string;
  /** Their names in Vault. */
  readonly secrets: readonly string[];
}

/** The secrets of a tool's definition; null for a tool that has no address of its own. */
export function toolSecrets({ config = {}, credential }: JsonObject): ToolSecrets | null {
  if (!isJsonObject(config) || typeof config.url !== "string") return null;
  const host = hostOf(config.url);
  if (host === null) return null;
  const entries = [config.headers, config.query].flatMap((part) =>
    isJsonObject(part) ? Object.values(part) : []
  );
  const secrets = [credential, ...entries].flatMap(secretIn);
  return { host, secrets: [...new Set(secrets)] };
}

/** The host of an address, whose path may have placeholders. */
export function hostOf(url: string): string | null {
  return URL.parse(url.replaceAll(/[{}]/g, "_"))?.host ?? null;
}

function secretIn(value: JsonValue | undefined): string[] {
  return isJsonObject(value) && typeof value.secret === "string" ? [value.secret] : [];
}
