import assert from "node:assert/strict";
import { parseEnv } from "node:util";
import { readConfig } from "../../shared/platform/config/env.ts";
import { ENV_VARIABLES } from "../../shared/platform/config/env_variables.ts";
import { envExample } from "./env_example.ts";
import { MODEL_VARIABLES, STACK_VARIABLES } from "./stack_variables.ts";

Deno.test("envExample() has every variable that a user may set, each once and empty", () => {
  const declared = [
    ...Object.keys(MODEL_VARIABLES),
    ...Object.keys(ENV_VARIABLES).filter((name) => !name.startsWith("SUPABASE_")),
    ...Object.keys(STACK_VARIABLES),
  ];

  const written = [...envExample().matchAll(/^(\w+)=(.*)$/gm)];

  assert.deepEqual(written.map(([, name]) => name).sort(), declared.sort());
  assert.ok(written.every(([, , value]) => value === ""));
});

Deno.test("a copy of envExample() gives the same configuration as no file", () => {
  const platform: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1",
    SUPABASE_DB_URL: "postgresql://127.0.0.1/postgres",
    SUPABASE_SECRET_KEYS: '{"default":"sb_secret_x"}',
  };
  const copied = parseEnv(envExample());

  assert.deepEqual(
    readConfig((name) => platform[name] ?? copied[name]),
    readConfig((name) => platform[name]),
  );
});
