import type { JsonObject, JsonValue } from "../../platform/values/json.ts";

/** Sign-in methods of Supabase Auth. */
const METHODS = [
  ...["password", "otp", "magiclink", "oauth", "sso", "saml", "anonymous", "web3", "passkey"],
  ...["phone", "email", "recovery", "invite", "mfa", "totp", "webauthn", "token_refresh"],
];
/** Identity providers of Supabase Auth. */
const PROVIDERS = [
  ...["email", "phone", "anonymous", "apple", "azure", "bitbucket", "discord", "facebook", "figma"],
  ...["fly", "github", "gitlab", "google", "kakao", "keycloak", "linkedin", "linkedin_oidc"],
  ...["notion", "slack", "slack_oidc", "snapchat", "solana", "spotify", "sso", "twitch", "twitter"],
  ...["web3", "workos", "x", "zoom"],
];
const PLATFORMS = [
  ...["web", "ios", "android", "macos", "windows", "linux", "desktop", "mobile", "server", "cli"],
];

/** The stored fields of an auth event, each with its permitted values. */
const FIELDS: Readonly<Record<string, (text: string) => boolean>> = {
  provider: (text) => PROVIDERS.includes(text),
  method: (text) => METHODS.includes(text),
  platform: (text) => PLATFORMS.includes(text),
  app_version: (text) => /^\d{1,4}(\.\d{1,5}){0,3}$/.test(text),
  locale: (text) => /^[a-z]{2,3}([-_][A-Za-z]{2,4}){0,2}$/.test(text),
  time_zone: isTimeZone,
};

/** The names of the stored fields. */
export const AUTH_EVENT_FIELDS: readonly string[] = Object.keys(FIELDS);

/**
 * The part of an event's metadata that is stored. A field or value that is not on the list is
 * dropped, so that no token, address or name gets into the table, whatever a client sends.
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
    return false; // The runtime does not know this zone.
  }
}
