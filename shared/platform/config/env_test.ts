import assert from "node:assert/strict";
import { SwarmError } from "../errors/swarm_error.ts";
import { poolingOf, withoutPoolMark } from "./pooling.ts";
import { readConfig } from "./env.ts";
import { ENV_VARIABLES } from "./env_variables.ts";

const COMPLETE: Record<string, string> = {
  SUPABASE_URL: "http://127.0.0.1:54321/",
  SUPABASE_DB_URL: "postgresql://postgres:hunter2@127.0.0.1:5432/postgres",
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_x"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_x"}',
};

function read(overrides: Record<string, string | undefined> = {}) {
  const values = { ...COMPLETE, ...overrides };
  return readConfig((name) => values[name]);
}

function problemOf(overrides: Record<string, string | undefined>): SwarmError {
  try {
    read(overrides);
  } catch (error) {
    assert.ok(error instanceof SwarmError);
    assert.equal(error.code, "CONFIG_INVALID");
    return error;
  }
  throw new assert.AssertionError({ message: "the configuration was accepted" });
}

Deno.test("readConfig() fills in the defaults and trims the address", () => {
  const config = read();

  assert.equal(config.apiKeys.url, "http://127.0.0.1:54321");
  assert.equal(config.allowLoopback, false);
  assert.equal(config.worker.leaseSeconds, 30);
  assert.ok(config.apiKeys.jwks instanceof URL);
  assert.equal(config.apiKeys.jwks.href, "http://127.0.0.1:54321/auth/v1/.well-known/jwks.json");
});

Deno.test("readConfig() names a missing variable and its expected format", () => {
  const error = problemOf({ SUPABASE_URL: undefined });

  assert.match(error.message, /SUPABASE_URL is not set/);
  assert.match(error.hint ?? "", /http or https address/);
});

Deno.test("readConfig() prefers the project's own address of the database", () => {
  const pooler = "postgresql://postgres.abc:hunter2@pooler.example.com:6543/postgres";

  assert.equal(read().databaseUrl, COMPLETE.SUPABASE_DB_URL);
  assert.equal(read({ SUPASWARM_DB_URL: "" }).databaseUrl, COMPLETE.SUPABASE_DB_URL);
  assert.equal(read({ SUPASWARM_DB_URL: pooler }).databaseUrl, pooler);
  assert.equal(
    read({ SUPASWARM_DB_URL: pooler, SUPABASE_DB_URL: undefined }).databaseUrl,
    pooler,
  );
});

Deno.test("readConfig() treats an empty variable as unset", () => {
  assert.equal(read({ SUPASWARM_WORKER_SLOTS: "" }).worker.slots, 100);
  assert.equal(read({ SUPASWARM_WORKER_SLOTS: " \n" }).worker.slots, 100);
});

Deno.test("readConfig() fetches the keys of tokens where it is given none", () => {
  for (const empty of ["", " ", "{}", "null", "[]", '{"keys":[]}', '{ "keys": [ ] }']) {
    const { jwks } = read({ SUPABASE_JWKS: empty }).apiKeys;

    assert.ok(jwks instanceof URL, JSON.stringify(empty));
  }
});

Deno.test("readConfig() marks the address of the database with the mode of its pooler", () => {
  const { databaseUrl } = read({ SUPASWARM_DB_POOL_MODE: "transaction" });

  assert.equal(poolingOf(databaseUrl).hasSessions, false);
  assert.equal(withoutPoolMark(databaseUrl), COMPLETE.SUPABASE_DB_URL);
  assert.match(problemOf({ SUPASWARM_DB_POOL_MODE: "pool" }).hint ?? "", /session or transaction/);
});

Deno.test("readConfig() reads origins and refuses invalid ones", () => {
  assert.deepEqual(read().allowedOrigins, []);
  assert.deepEqual(
    read({ SUPASWARM_ALLOWED_ORIGINS: "https://a.example.com, http://b.example:8080," })
      .allowedOrigins,
    ["https://a.example.com", "http://b.example:8080"],
  );
  for (const text of ["a.example.com", "https://a.example.com/", "https://a.example.com/x", "*"]) {
    assert.match(problemOf({ SUPASWARM_ALLOWED_ORIGINS: text }).hint ?? "", /https:\/\/app\./);
  }
});

Deno.test("readConfig() refuses a malformed number with its value and range", () => {
  for (const text of ["ten", "-1", "1.5", "0", "1e9", " 5"]) {
    const error = problemOf({ SUPASWARM_WORKER_SLOTS: text });

    assert.ok(error.message.includes(`SUPASWARM_WORKER_SLOTS is ${JSON.stringify(text)}`));
    assert.match(error.hint ?? "", /from 1 to 100/);
  }
});

Deno.test("readConfig() never repeats a malformed secret", () => {
  for (const name of ["SUPABASE_DB_URL", "SUPASWARM_DB_URL", "SUPABASE_SECRET_KEYS"]) {
    const error = problemOf({ [name]: "hunter2" });

    assert.ok(!JSON.stringify(error.toBody()).includes("hunter2"), name);
  }
});

Deno.test("readConfig() refuses key JSON of the wrong type instead of treating it as empty", () => {
  problemOf({ SUPABASE_SECRET_KEYS: "[1]" });
  problemOf({ SUPABASE_SECRET_KEYS: '{"default": 5}' });
  problemOf({ SUPABASE_JWKS: '{"key": []}' });
});

Deno.test("readConfig() accepts a bare array of keys as a key set", () => {
  const config = read({ SUPABASE_JWKS: '[{"kty":"EC","kid":"a"}]' });

  assert.deepEqual(config.apiKeys.jwks, { keys: [{ kty: "EC", kid: "a" }] });
});

Deno.test("readConfig() refuses a heartbeat longer than half the lease", () => {
  const error = problemOf({ SUPASWARM_LEASE_SECONDS: "10", SUPASWARM_HEARTBEAT_SECONDS: "6" });

  assert.match(error.hint ?? "", /at most 5/);
});

Deno.test("every variable has a purpose and a format", () => {
  for (const [name, definition] of Object.entries(ENV_VARIABLES)) {
    assert.ok(definition.purpose.endsWith("."), name);
    assert.ok(definition.wanted.length > 0, name);
  }
});

Deno.test("readConfig() exports no traces unless an endpoint is set", () => {
  assert.equal(read({ OTEL_SERVICE_NAME: "x" }).telemetry, undefined);
});

Deno.test("readConfig() reads the OpenTelemetry variables by their specification", () => {
  const { telemetry } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example/otlp/",
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b, authorization=Bearer%20c=d,",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=mine,team=caf%C3%A9",
  });

  assert.deepEqual(telemetry, {
    tracesEndpoint: "https://collector.example/otlp/v1/traces",
    headers: { "x-key": "a b", authorization: "Bearer c=d" },
    serviceName: "mine",
    resourceAttributes: { "service.name": "mine", team: "café" },
  });
});

Deno.test("readConfig() prefers the traces endpoint and the configured service name", () => {
  const { telemetry } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/own",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=mine",
    OTEL_SERVICE_NAME: "swarm",
  });

  assert.equal(telemetry?.tracesEndpoint, "http://127.0.0.1:4318/own");
  assert.equal(telemetry?.serviceName, "swarm");
});

Deno.test("readConfig() refuses a malformed endpoint or header, and repeats no header", () => {
  problemOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" });
  for (const headers of ["hunter2", "a b=hunter2", "a=hunter2%0A", "a=hunter2%"]) {
    const error = problemOf({ OTEL_EXPORTER_OTLP_HEADERS: headers });

    assert.ok(!JSON.stringify(error.toBody()).includes("hunter2"), headers);
  }
});
