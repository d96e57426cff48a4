import assert from "node:assert/strict";
import { checkSettings, functionSettings } from "./function_settings.ts";

const LIMITS = { wallClockMs: 2_500, cpu: { softMs: 200, hardMs: 500 } };

Deno.test("functionSettings() passes settings on, but no provider key", () => {
  const settings = functionSettings(
    {
      OPENAI_API_KEY: "hidden",
      OTEL_DENO: "hidden",
      OTEL_SERVICE_NAME: "swarm",
      SUPASWARM_X: "1",
    },
    LIMITS,
    "native",
  );

  assert.equal(settings["SUPASWARM_X"], "1");
  assert.equal(settings["OTEL_SERVICE_NAME"], "swarm");
  assert.ok(!JSON.stringify(settings).includes("hidden"));
});

Deno.test("functionSettings() keeps the functions on the stack's own database", () => {
  const settings = functionSettings(
    { SUPASWARM_DB_URL: "postgresql://elsewhere/x" },
    LIMITS,
    "native",
  );

  assert.ok(!("SUPASWARM_DB_URL" in settings));
});

Deno.test("functionSettings() tells the functions that the embedded database has one session", () => {
  const given = { SUPASWARM_DB_POOL_MODE: "session" };

  assert.equal(
    functionSettings(given, LIMITS, "pglite")["SUPASWARM_DB_POOL_MODE"],
    "transaction",
  );
  assert.ok(!("SUPASWARM_DB_POOL_MODE" in functionSettings(given, LIMITS, "native")));
});

Deno.test("functionSettings() reports the limits that the isolates actually have", () => {
  const settings = functionSettings(
    { SUPASWARM_CPU_SOFT_MS: "9", SUPASWARM_X: "1" },
    LIMITS,
    "native",
  );

  assert.equal(settings["SUPASWARM_WALL_CLOCK_SECONDS"], "2");
  assert.equal(settings["SUPASWARM_CPU_SOFT_MS"], "200");
  assert.equal(settings["SUPASWARM_CPU_HARD_MS"], "500");
});

Deno.test("functionSettings() treats an empty variable as unset", () => {
  const settings = functionSettings(
    { SUPASWARM_ALLOW_LOOPBACK: "", SUPASWARM_X: "" },
    LIMITS,
    "native",
  );

  assert.equal(settings["SUPASWARM_ALLOW_LOOPBACK"], "true");
  assert.ok(!("SUPASWARM_X" in settings));
});

Deno.test("checkSettings() refuses an invalid value of any setting and names its variable", () => {
  const bad = {
    SUPASWARM_WORKER_SLOTS: "many",
    SUPASWARM_HEARTBEAT_SECONDS: "29",
    SUPASWARM_GITHUB_API_URL: "github",
    SUPASWARM_CPU_SOFT_MS: "9000",
    OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere",
  };
  for (const [name, value] of Object.entries(bad)) {
    assert.throws(() => checkSettings({ [name]: value }), (error: Error & { code?: string }) => {
      assert.equal(error.code, "CONFIG_INVALID", name);
      assert.match(error.message, new RegExp(name));
      return true;
    });
  }
  checkSettings({});
});
