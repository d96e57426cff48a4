import assert from "node:assert/strict";
import { join } from "node:path";
import type { Manifest } from "../project/manifest.ts";
import { checkCompose } from "./check_compose.ts";
import { readComposeFiles } from "./compose_files.ts";

const MANIFEST = { schema: "supaswarm" } as Manifest;

const COMPOSE = `name: supabase

services:

  # The gateway
  api-gw:
    image: envoyproxy/envoy:v1
    environment:
      SUPABASE_URL: http://elsewhere:1

  rest:
    environment:
      PGRST_DB_SCHEMAS: \${PGRST_DB_SCHEMAS}

  functions:
    container_name: supabase-edge-functions
    volumes:
      - ./volumes/functions:/home/deno/functions:Z
    environment:
      SUPABASE_URL: http://api-gw:8000
      SUPABASE_DB_URL: postgresql://postgres:\${POSTGRES_PASSWORD}@\${POSTGRES_HOST}:\${POSTGRES_PORT}/\${POSTGRES_DB}
      SUPABASE_PUBLISHABLE_KEYS: "{\\"default\\":\\"\${SUPABASE_PUBLISHABLE_KEY:-}\\"}"
      SUPABASE_SECRET_KEYS: '{"default":"\${SUPABASE_SECRET_KEY:-}"}'
      SUPABASE_JWKS: \${JWT_JWKS:-{"keys":[]}}
      # Not for each function
      VERIFY_JWT: "\${FUNCTIONS_VERIFY_JWT}"
      SUPASWARM_CPU_SOFT_MS: \${SWARM_CPU_SOFT:-}
      SUPASWARM_CPU_HARD_MS: \${SWARM_CPU_HARD:-}
      SUPASWARM_WALL_CLOCK_SECONDS: \${SWARM_WALL_CLOCK:-}
    command: ["start", "--main-service", "/home/deno/functions/main"]

volumes:
  db-config:
`;

const ENV = {
  POSTGRES_PASSWORD: "secret",
  POSTGRES_HOST: "db",
  POSTGRES_PORT: "5432",
  POSTGRES_DB: "postgres",
  PGRST_DB_SCHEMAS: "public,graphql_public, supaswarm",
  SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
  SUPABASE_SECRET_KEY: "sb_secret_x",
  FUNCTIONS_VERIFY_JWT: "false",
};

const MAIN = `const memoryLimitMb = 256 // was 150
const workerTimeoutMs = 400 * 1_000
const worker = await EdgeRuntime.userWorkers.create({ servicePath, memoryLimitMb, workerTimeoutMs })
`;

/** The claims that fail, with what is wrong. */
async function failures(
  { env = {}, main = MAIN, compose = COMPOSE }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly main?: string;
    readonly compose?: string;
  } = {},
): Promise<Readonly<Record<string, string>>> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-compose-" });
  const mainFolder = join(folder, "volumes/functions/main");
  await Deno.mkdir(mainFolder, { recursive: true });
  await Deno.writeTextFile(join(folder, "docker-compose.yml"), compose);
  const lines = Object.entries({ ...ENV, ...env }).map(([name, value]) => `${name}=${value}\n`);
  await Deno.writeTextFile(join(folder, ".env"), lines.join(""));
  await Deno.writeTextFile(join(mainFolder, "index.ts"), main);
  try {
    const checks = checkCompose(await readComposeFiles(folder), MANIFEST);
    return Object.fromEntries(
      checks.flatMap(({ claim, problem }) => problem === null ? [] : [[claim, problem]]),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("checkCompose() accepts the settings of the how-to", async () => {
  assert.deepEqual(await failures(), {});
});

Deno.test("checkCompose() names what the files as delivered lack", async () => {
  const delivered = {
    env: {
      PGRST_DB_SCHEMAS: "public,graphql_public",
      SUPABASE_PUBLISHABLE_KEY: "",
      SUPABASE_SECRET_KEY: "",
      FUNCTIONS_VERIFY_JWT: "true",
    },
    main: "const memoryLimitMb = 150\nconst workerTimeoutMs = 1 * 60 * 1000\n",
  };

  assert.deepEqual(await failures(delivered), {
    "The functions authenticate their callers themselves": "VERIFY_JWT is true",
    "The functions have keys of the new form": "SUPABASE_PUBLISHABLE_KEYS, SUPABASE_SECRET_KEYS",
    "The REST API exposes the schema supaswarm": "PGRST_DB_SCHEMAS is public,graphql_public",
    "Isolates live as long as the functions expect":
      "workerTimeoutMs is 60000, SUPASWARM_WALL_CLOCK_SECONDS is 150",
    "Isolates have 256 MB of memory": "memoryLimitMb is 150",
  });
});

Deno.test("checkCompose() knows that the runtime's CPU limits hold unless both are 0", async () => {
  const claim = "Isolates have the CPU time that the functions expect";
  const withCpu = (soft: string, hard: string) =>
    `${MAIN}
    const limits = { cpuTimeSoftLimitMs: ${soft}, cpuTimeHardLimitMs: ${hard} }
  `;
  const unlimited = { SWARM_CPU_HARD: "0" };
  const raised = { SWARM_CPU_SOFT: "60000", SWARM_CPU_HARD: "120000" };

  for (const env of [unlimited, raised]) {
    assert.match((await failures({ env }))[claim] ?? "", /ends them after 1000 and 2000 ms/);
    assert.match((await failures({ env, main: withCpu("0", "2_000") }))[claim] ?? "", /0 and 2000/);
    assert.deepEqual(await failures({ env, main: withCpu("0", "0") }), {});
  }
  assert.deepEqual(await failures({ env: raised, main: withCpu("60_000", "120_000") }), {});
  assert.deepEqual(await failures({ env: raised, main: withCpu("Number(x)", "Number(y)") }), {});
});

Deno.test("checkCompose() finds the name of a gateway that is gone, and a transaction pooler", async () => {
  const upgraded = COMPOSE.replace(
    "SUPABASE_URL: http://api-gw:8000",
    "SUPABASE_URL: http://kong:8000",
  );

  assert.match(
    (await failures({ compose: upgraded }))["The functions reach the gateway"] ?? "",
    /"http:\/\/kong:8000", but there is no service "kong"/,
  );
  assert.match(
    (await failures({ env: { POSTGRES_PORT: "6543" } }))["Workers are notified of new tasks"] ?? "",
    /transaction pooler/,
  );
});

Deno.test("readComposeFiles() refuses a folder without Compose files", async () => {
  await assert.rejects(readComposeFiles("/nowhere"), {
    code: "COMPOSE_NOT_FOUND",
    message: /\/nowhere\/docker-compose\.yml does not exist/,
  });
});
