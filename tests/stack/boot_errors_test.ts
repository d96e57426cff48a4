import assert from "node:assert/strict";
import { createFunctionHost } from "../../stack/functions/function_host.ts";
import type { FunctionLogLine } from "../../stack/functions/function_log.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";

const SETTINGS = {
  SUPABASE_URL: "http://127.0.0.1:54321",
  SUPABASE_DB_URL: "postgresql://postgres@127.0.0.1:9/postgres?sslmode=disable",
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_x"}',
};

/** Calls every function of the product once, and returns its refusal and its logs. */
async function refusals(env: Readonly<Record<string, string>>) {
  const logs: FunctionLogLine[] = [];
  const host = await createFunctionHost({
    projectRoot: PROJECT_ROOT,
    env,
    watch: false,
    onLog: (line) => logs.push(line),
  });
  try {
    const answers = await Promise.all(host.names.map(async (name) => {
      const request = new Request(`http://stack.test/functions/v1/${name}`, { method: "POST" });
      const response = await host.fetch(name, request);
      const { error } = await response.json();
      assert.ok(response.headers.get("x-request-id"), `${name} names the request`);
      assert.equal(response.headers.get("access-control-allow-origin"), "*", name);
      return { name, status: response.status, error };
    }));
    const bootLogs = () => logs.filter(({ event }) => event === "function.not_started");
    await waitFor(() => bootLogs().length === host.names.length);
    return { answers, bootLogs: bootLogs() };
  } finally {
    await host.stop();
  }
}

Deno.test("a function with a malformed setting reports it to each request and in its log", async () => {
  const { answers, bootLogs } = await refusals({ ...SETTINGS, SUPASWARM_LEASE_SECONDS: "soon" });

  assert.ok(answers.length >= 8);
  for (const { name, status, error } of answers) {
    assert.deepEqual([name, status, error.code], [name, 500, "CONFIG_INVALID"]);
    assert.match(error.message, /SUPASWARM_LEASE_SECONDS is "soon"/);
    const line = bootLogs.find((log) => log.function === name);
    assert.deepEqual(
      [line?.level, line?.code, line?.message, line?.hint],
      ["error", error.code, error.message, error.hint],
    );
  }
});

Deno.test("a project with only legacy API keys is refused, and the error names what to create", async () => {
  const { SUPABASE_SECRET_KEYS: _, ...others } = SETTINGS;
  const legacy = { SUPABASE_SERVICE_ROLE_KEY: "eyJ.legacy.key", SUPABASE_ANON_KEY: "eyJ.anon.key" };

  for (const keys of [{}, { SUPABASE_SECRET_KEYS: "{}" }]) {
    const { answers, bootLogs } = await refusals({ ...others, ...legacy, ...keys });

    for (const { name, status, error } of answers) {
      assert.deepEqual([name, status, error.code], [name, 401, "PROJECT_KEYS_UNSUPPORTED"]);
      assert.match(error.hint, /^Create publishable and secret API keys in the dashboard/);
    }
    assert.ok(!JSON.stringify([answers, bootLogs]).includes("legacy.key"), "no key is repeated");
  }
});
