import assert from "node:assert/strict";
import { functionEnvironment } from "./function_environment.ts";
import { ensureKeys } from "./keys/keys.ts";

Deno.test("functionEnvironment() adds the platform's variables to a project's settings", async () => {
  const env = functionEnvironment({
    apiUrl: "http://127.0.0.1:54321",
    dbUrl: "postgresql://postgres@127.0.0.1:1/postgres",
    keys: await ensureKeys(null),
    settings: { COLOUR: "green", SUPABASE_URL: "http://elsewhere" },
  });

  assert.equal(env["COLOUR"], "green");
  assert.equal(env["SUPABASE_URL"], "http://127.0.0.1:54321");
  assert.match(env["SUPABASE_SECRET_KEYS"] ?? "", /^\{"default":"sb_secret_/);
});
