import assert from "node:assert/strict";
import { join } from "node:path";
import { loadKeys } from "./keys/keys.ts";
import { functionEnvironment, functionWallClockMs, readEnvironment } from "./stack_environment.ts";

Deno.test("functionEnvironment() passes settings on and no key of a provider", async () => {
  const env = functionEnvironment({
    apiUrl: "http://127.0.0.1:54321",
    dbUrl: "postgresql://postgres@127.0.0.1:1/postgres",
    keys: await loadKeys(null),
    environment: {
      OPENAI_API_KEY: "hidden",
      OTEL_DENO: "hidden",
      OTEL_SERVICE_NAME: "swarm",
      SUPASWARM_X: "1",
      SUPABASE_URL: "http://elsewhere",
    },
  });

  assert.equal(env["SUPASWARM_X"], "1");
  assert.equal(env["OTEL_SERVICE_NAME"], "swarm");
  assert.equal(env["SUPABASE_URL"], "http://127.0.0.1:54321");
  assert.match(env["SUPABASE_SECRET_KEYS"] ?? "", /^\{"default":"sb_secret_/);
  assert.ok(!JSON.stringify(env).includes("hidden"));
});

Deno.test("readEnvironment() reads .env, and the process's variables win", async () => {
  const projectRoot = await Deno.makeTempDir();
  await Deno.writeTextFile(join(projectRoot, ".env"), 'PATH=/nowhere\n# note\nNEW_KEY="a b"\n');

  const environment = await readEnvironment(projectRoot);

  assert.equal(environment["NEW_KEY"], "a b");
  assert.equal(environment["PATH"], Deno.env.get("PATH"));
  await Deno.remove(projectRoot, { recursive: true });
});

Deno.test("functionWallClockMs() is 400 s unless told otherwise and refuses what is no number", () => {
  assert.equal(functionWallClockMs({}), 400_000);
  assert.equal(
    functionWallClockMs({ SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: "2.5" }),
    2_500,
  );
  assert.throws(
    () => functionWallClockMs({ SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: "soon" }),
    /SUPASWARM_FUNCTION_WALL_CLOCK_SECONDS: it is 'soon'/,
  );
});
