import assert from "node:assert/strict";
import { ensureKeys } from "./keys.ts";

const USER_ID = "5f0c1c3e-6f0e-4f63-9a1b-2d8f3c1b7a10";

Deno.test("ensureKeys() creates keys in Supabase's formats", async () => {
  const keys = await ensureKeys(null);

  assert.match(keys.publishableKey, /^sb_publishable_[\w-]{22}_[\w-]{8}$/);
  assert.match(keys.secretKey, /^sb_secret_[\w-]{22}_[\w-]{8}$/);
  assert.equal(JSON.stringify(keys.jwks).includes('"d"'), false);
});

Deno.test("ensureKeys() stores keys in a file that only its owner can read", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    const first = await ensureKeys(dataDir);
    const token = await first.signUserToken({
      sub: USER_ID,
      role: "authenticated",
      exp: inAnHour(),
    });
    const second = await ensureKeys(dataDir);

    assert.equal(second.secretKey, first.secretKey);
    assert.equal((await second.verifyUserToken(token))?.sub, USER_ID);
    assert.equal(((await Deno.stat(`${dataDir}/keys.json`)).mode ?? 0) & 0o777, 0o600);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("ensureKeys() refuses a damaged file and names it", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dataDir}/keys.json`, "{");

    await assert.rejects(ensureKeys(dataDir), { code: "CONFIG_INVALID", message: /keys\.json/ });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("verifyUserToken() accepts only unexpired tokens that the stack itself signed", async () => {
  const keys = await ensureKeys(null);
  const others = await ensureKeys(null);
  const claims = { sub: USER_ID, role: "authenticated", exp: inAnHour() };
  const token = await keys.signUserToken(claims);

  assert.equal((await keys.verifyUserToken(token))?.role, "authenticated");
  assert.equal((await keys.verifyUserToken(token))?.role, "authenticated", "again");
  assert.equal(await keys.verifyUserToken(await others.signUserToken(claims)), null);
  assert.equal(await keys.verifyUserToken(await keys.signUserToken({ ...claims, exp: 1 })), null);
  assert.equal(await keys.verifyUserToken(`${token.slice(0, -4)}AAAA`), null);
  assert.equal(await keys.verifyUserToken("nonsense"), null);
});

Deno.test("verifyUserToken() refuses a token that has expired since it was verified", async () => {
  const keys = await ensureKeys(null);
  const exp = Math.floor(Date.now() / 1_000) + 4;
  const token = await keys.signUserToken({ sub: USER_ID, role: "authenticated", exp });
  assert.ok(await keys.verifyUserToken(token));

  while (Date.now() < exp * 1_000) await new Promise((resolve) => setTimeout(resolve, 50));

  assert.equal(await keys.verifyUserToken(token), null);
});

function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3600;
}
