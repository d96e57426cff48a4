import assert from "node:assert/strict";
import { join } from "node:path";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { startPlatform } from "../../scripts/platform/start_platform.ts";

const ECHO_ENVIRONMENT = `Deno.serve(() => Response.json(Deno.env.toObject()));`;

/** A project with this one's database and a function that returns what it sees. */
async function makeProject(): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-stack-test-" });
  const functionFolder = join(root, "supabase", "functions", "environment");
  await Deno.mkdir(functionFolder, { recursive: true });
  await Deno.writeTextFile(join(functionFolder, "index.ts"), ECHO_ENVIRONMENT);
  await Deno.writeTextFile(join(root, "deno.json"), "{}");
  await Deno.symlink(
    join(PROJECT_ROOT, "supabase", "migrations"),
    join(root, "supabase", "migrations"),
  );
  await Deno.symlink(
    join(PROJECT_ROOT, "supabase", "seed.sql"),
    join(root, "supabase", "seed.sql"),
  );
  return root;
}

Deno.test("a stack stores named keys in Vault and hides them from functions", async (test) => {
  const projectRoot = await makeProject();
  const stack = await startPlatform({
    db: "pglite",
    port: 0,
    dataDir: null,
    projectRoot,
    watch: false,
    onLog: () => {},
    env: {
      OPENAI_API_KEY: "canary-key",
      GITHUB_TOKEN: "canary-token",
      SUPASWARM_COLOUR: "green",
      UNRELATED: "unseen",
    },
  });
  const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "stack test" });

  await test.step("Vault holds the key of a provider and the token for GitHub by name", async () => {
    const rows = await sql<{ name: string; secret: string }[]>`
      select name, decrypted_secret as secret from vault.decrypted_secrets
      where name like '%API_KEY' or name = 'GITHUB_TOKEN'
      order by name
    `;
    assert.deepEqual([...rows], [
      { name: "GITHUB_TOKEN", secret: "canary-token" },
      { name: "OPENAI_API_KEY", secret: "canary-key" },
    ]);
  });

  await test.step("functions see only the platform's variables and the product's settings", async () => {
    const response = await fetch(`${stack.apiUrl}/functions/v1/environment`);
    const seen: Record<string, string> = await response.json();

    assert.equal(seen["SUPABASE_URL"], stack.apiUrl);
    assert.equal(seen["SUPABASE_DB_URL"], stack.dbUrl);
    assert.equal(JSON.parse(seen["SUPABASE_SECRET_KEYS"] ?? "{}").default, stack.secretKey);
    assert.equal(seen["SUPASWARM_COLOUR"], "green");
    assert.equal(seen["UNRELATED"], undefined);
    assert.ok(!JSON.stringify(seen).includes("canary-"));
  });

  await test.step("the database knows its own address and that of its scripted models", async () => {
    const [provider] = await sql<{ base_url: string }[]>`
      select base_url from public.llm_providers where name = 'demo'
    `;
    assert.equal(provider?.base_url, `${stack.models.url}/v1`);
  });

  await sql.end();
  await Promise.all([stack.stop(), stack.stop()]);
  await assert.rejects(fetch(stack.apiUrl), TypeError);
  await Deno.remove(projectRoot, { recursive: true });
});

Deno.test("a stack that cannot start leaves nothing running", async () => {
  const projectRoot = await makeProject();
  await Deno.remove(join(projectRoot, "supabase", "migrations"));
  await Deno.mkdir(join(projectRoot, "supabase", "migrations"));
  await Deno.writeTextFile(
    join(projectRoot, "supabase", "migrations", "20260101000000_broken.sql"),
    "select nonsense;",
  );

  const start = startPlatform({
    db: "pglite",
    port: 0,
    dataDir: null,
    projectRoot,
    watch: false,
    onLog: () => {},
    env: {},
  });

  await assert.rejects(start, /20260101000000_broken\.sql/);
  await Deno.remove(projectRoot, { recursive: true });
});
