/** The project that the console shows, as configured in `config.json` next to the page. */
export interface ProjectConfig {
  /** Such as `https://abc.supabase.co`, without a trailing slash. */
  readonly apiUrl: string;
  readonly publishableKey: string;
  /** Where the platform is installed. @default public */
  readonly schema?: string;
  /** Edge functions that have another name in the project, by the platform's name. */
  readonly functions?: Readonly<Record<string, string>>;
}

/**
 * Reads `config.json`.
 *
 * @throws Error if the file is missing or malformed, or if it contains a secret key.
 */
export async function readProjectConfig(): Promise<ProjectConfig> {
  const answer = await fetch("./config.json", { cache: "no-store" });
  if (!answer.ok) {
    throw new Error(
      `Cannot read config.json next to this page: the server answered ${answer.status}`,
    );
  }
  return parseProjectConfig(await answer.json());
}

/** @throws Error that names the problem in the configuration. */
export function parseProjectConfig(value: unknown): ProjectConfig {
  const config = value as Readonly<Record<string, unknown>> | null;
  const { api_url: apiUrl, publishable_key: publishableKey, schema, functions } = config ?? {};
  if (typeof apiUrl !== "string" || !/^https?:\/\/[^/]+/.test(apiUrl)) {
    throw new Error("Cannot use config.json: api_url must be the URL of the Supabase project");
  }
  if (typeof publishableKey !== "string" || publishableKey === "") {
    throw new Error("Cannot use config.json: publishable_key is missing");
  }
  if (isSecretKey(publishableKey)) {
    throw new Error(
      "Cannot use config.json: it holds a secret key. Everyone who opens this page can read it. " +
        "Put the publishable key there, and replace the secret key in the project's settings",
    );
  }
  if (schema !== undefined && (typeof schema !== "string" || schema === "")) {
    throw new Error("Cannot use config.json: schema must be the name of a schema");
  }
  if (functions !== undefined && !isNames(functions)) {
    throw new Error("Cannot use config.json: functions must map names of functions to names");
  }
  return {
    apiUrl: apiUrl.replace(/\/+$/, ""),
    publishableKey,
    ...(schema === undefined ? {} : { schema }),
    ...(functions === undefined ? {} : { functions }),
  };
}

function isNames(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null &&
    Object.values(value).every((name) => typeof name === "string");
}

/** True for a secret key in the new format and for a legacy service role token. */
export function isSecretKey(key: string): boolean {
  if (key.startsWith("sb_secret_")) return true;
  const claims = key.split(".")[1];
  if (claims === undefined) return false;
  try {
    const { role } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")));
    return role !== undefined && role !== "anon";
  } catch {
    return false;
  }
}
