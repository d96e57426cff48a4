import { expect, test } from "vitest";
import { isSecretKey, parseProjectConfig } from "../../project/project_config.ts";
import { signInWays } from "./sign_in_ways.ts";

test("signInWays() offers only the password where no email is sent", () => {
  const ways = signInWays({ external: { email: true }, mailer_autoconfirm: true });
  expect(ways).toMatchObject({ password: true, magicLink: false, signUp: true, providers: [] });
});

test("signInWays() offers links and the providers of a hosted project", () => {
  const ways = signInWays({
    external: { email: true, phone: true, github: true, google: false },
    disable_signup: true,
    mailer_autoconfirm: false,
  });
  expect(ways).toMatchObject({ magicLink: true, signUp: false, providers: ["github"] });
});

test("isSecretKey() recognizes both forms of a secret key", () => {
  const serviceRole = `x.${btoa(JSON.stringify({ role: "service_role" }))}.y`;
  for (const key of ["sb_secret_abc", serviceRole]) {
    expect(isSecretKey(key)).toBe(true);
    expect(() => parseProjectConfig({ api_url: "https://a.supabase.co", publishable_key: key }))
      .toThrow(/secret key/);
  }
  expect(isSecretKey("sb_publishable_abc")).toBe(false);
});
