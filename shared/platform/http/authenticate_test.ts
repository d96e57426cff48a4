import assert from "node:assert/strict";
import type { SwarmError } from "../errors/swarm_error.ts";
import { authenticate } from "./authenticate.ts";

const KEYS = {
  url: "http://127.0.0.1:54321",
  publishableKeys: { default: "sb_publishable_x" },
  secretKeys: { default: "sb_secret_x" },
  jwks: { keys: [] },
};

/** How authenticate() refuses a token with this header. */
async function refusalOf(header: object): Promise<SwarmError> {
  const encode = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, "");
  const token = `${encode(header)}.${encode({ sub: crypto.randomUUID(), exp: 9e9 })}.c2ln`;
  const request = new Request("http://test/", {
    headers: { authorization: `Bearer ${token}`, apikey: "sb_publishable_x" },
  });
  return await authenticate(request, KEYS, ["user", "service"]).then(
    () => assert.fail("The token was accepted"),
    (error) => error,
  );
}

Deno.test("authenticate() refuses a token of a legacy JWT secret and names the setting to enable", async () => {
  for (const header of [{ alg: "HS256", typ: "JWT" }, { alg: "HS256", kid: "old" }]) {
    const { code, hint } = await refusalOf(header);

    assert.equal(code, "PROJECT_KEYS_UNSUPPORTED");
    assert.match(hint ?? "", /Switch the project to JWT signing keys/);
  }
});

Deno.test("authenticate() refuses other tokens as unauthorized", async () => {
  for (const header of [{ alg: "ES256", kid: "unknown" }, { alg: "none" }, {}]) {
    assert.equal((await refusalOf(header)).code, "UNAUTHORIZED");
  }
});

Deno.test("authenticate() says that no user is signed in when only a publishable key came", async () => {
  const apikey = KEYS.publishableKeys.default;
  for (const headers of [{ apikey }, { apikey, authorization: `Bearer ${apikey}` }]) {
    const refused: SwarmError = await authenticate(
      new Request("http://test/", { headers }),
      KEYS,
      ["user", "service"],
    ).then(() => assert.fail("The request was accepted"), (error) => error);

    assert.equal(refused.code, "UNAUTHORIZED");
    assert.match(refused.message, /no user is signed in$/);
  }
});
