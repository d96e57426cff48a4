import assert from "node:assert/strict";
import { createWakeGuard } from "./wake_guard.ts";

const KEYS = {
  url: "http://127.0.0.1:54321",
  publishableKeys: { default: "sb_publishable_x" },
  secretKeys: { default: "sb_secret_x", cron: "sb_secret_cron" },
  jwks: { keys: [] },
};

Deno.test("createWakeGuard() accepts a secret key of any name, and reads a token once", async () => {
  const read: string[] = [];
  const isWakeToken = (token: string) => Promise.resolve(read.push(token) > 0 && token === "right");
  const guard = createWakeGuard(KEYS, { isWakeToken });
  const wake = (headers: Record<string, string>) => guard(new Request("http://test/", { headers }));

  assert.equal(await wake({ apikey: "sb_secret_x" }), "service");
  assert.equal(await wake({ apikey: "sb_secret_cron" }), "service");
  assert.equal(await wake({ "x-supaswarm-wake-token": "right" }), "database");
  assert.equal(await wake({ "x-supaswarm-wake-token": "right" }), "database");
  assert.deepEqual(read, ["right"]);
  for (const headers of [{ apikey: "sb_publishable_x" }, { "x-supaswarm-wake-token": "no" }]) {
    await assert.rejects(wake(headers), { code: "UNAUTHORIZED" });
  }
});
