import type { JsonObject, JsonValue } from "../../json.ts";

/** Ways to sign in that Supabase Auth knows. */
const METHODS = [
  ...["password", "otp", "magiclink", "oauth", "sso", "saml", "anonymous", "web3", "passkey"],
  ...["phone", "email", "recovery", "invite", "mfa", "totp", "webauthn", "token_refresh"],
];
/** Identity providers that Supabase Auth knows. */
const PROVIDERS = [
  ...["email", "phone", "anonymous", "apple", "azure", "bitbucket", "discord", "facebook", "figma"],
  ...["fly", "github", "gitlab", "google", "kakao", "keycloak", "linkedin", "linkedin_oidc"],
  ...["notion", "slack", "slack_oidc", "snapchat", "solana", "spotify", "sso", "twitch", "twitter"],
  ...["web3", "workos", "x", "zoom"],
];
const PLATFORMS = [
  ...["web", "ios", "android", "macos", "windows", "linux", "desktop", "mobile", "server", "cli"],
];

/** The fields of an auth event that are stored, each with the only values that it can have. */
const FIELDS: Readonly<Record<string, (text: string) => boolean>> = {
  provider: (text) => PROVIDERS.includes(text),
  method: (text) => METHODS.includes(text),
  platform: (text) => PLATFORMS.includes(text),
  app_version: (text) => /^\d{1,4}(\.\d{1,5}){0,3}$/.test(text),
  locale: (text) => /^[a-z]{2,3}([-_][A-Za-z]{2,4}){0,2}$/.test(text),
  time_zone: isTimeZone,
};

/** The names of the fields that are stored. */
export const AUTH_EVENT_FIELDS: readonly string[] = Object.keys(FIELDS);

/**
 * What is stored of an event's metadata. A field or a value that is not on the list is left out, so
 * that no token, address or name gets into the table, whatever a client sends.
 */
export function storableMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(FIELDS).flatMap(([name, isKnown]) => {
      const value: JsonValue | undefined = Object.hasOwn(metadata, name)
        ? metadata[name]
        : undefined;
      return typeof value === "string" && isKnown(value) ? [[name, value]] : [];
    }),
  );
}

function isTimeZone(text: string): boolean {
  if (text.length > 64) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // The runtime knows no such zone.
  }
}
