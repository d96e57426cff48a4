import assert from "node:assert/strict";
import { loadJose } from "../../../stack/deps.ts";
import { authenticate } from "../../../shared/platform/http/authenticate.ts";

Deno.test("authenticate() returns the OAuth client of a token", async () => {
  const { exportJWK, generateKeyPair, SignJWT } = await loadJose();
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const key = { ...await exportJWK(publicKey), kty: "EC", kid: "one", alg: "ES256" };
  const callerWith = async (claims: Readonly<Record<string, unknown>>) => {
    const token = await new SignJWT({ role: "authenticated", ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setSubject("00000000-0000-4000-8000-000000000001")
      .setExpirationTime("1h")
      .sign(privateKey);
    const request = new Request("http://127.0.0.1/mcp", {
      headers: { authorization: `Bearer ${token}` },
    });
    const keys = {
      url: "http://127.0.0.1:54321",
      publishableKeys: {},
      secretKeys: {},
      jwks: { keys: [key] },
    };
    const caller = await authenticate(request, keys, ["user"]);
    assert.ok(caller.kind === "user");
    return { userId: caller.userId, clientId: caller.clientId };
  };

  const userId = "00000000-0000-4000-8000-000000000001";
  assert.deepEqual(await callerWith({ client_id: "editor" }), {
    userId,
    clientId: "editor",
  });
  for (const claims of [{}, { client_id: "" }, { client_id: 7 }]) {
    assert.deepEqual(await callerWith(claims), { userId, clientId: null });
  }
});
