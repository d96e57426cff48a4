import assert from "node:assert/strict";
import { join } from "node:path";
import { startManagementApi } from "../../scripts/deploy/management_api.ts";
import { scriptModel } from "../../scripts/models/scripted_agent.ts";
import { startNativeCluster } from "../../stack/native/native_cluster.ts";
import { findNativePrefix } from "../../stack/native/native_prefix.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { findFunctions } from "../../stack/functions/find_functions.ts";
import { startPlatform } from "../../scripts/platform/start_platform.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { documentedShell, shellBlocks, withoutTls } from "../docs/documented_shell.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";

const PAGE = join(PROJECT_ROOT, "docs/how-to/deploy.md");
const MODEL_KEY = "sk-stand-in";

/** The names that a block exports; their values are the reader's. */
function exportedNames(block: string): string[] {
  return [...block.matchAll(/^export (\w+)=/gm)].map(([, name = ""]) => name);
}

Deno.test("the deploy page, followed literally, ends with a completed task", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-deploy-page-" });
  await Deno.chmod(folder, 0o755);
  const api = startManagementApi();
  const cluster = await startNativeCluster({
    prefix: await findNativePrefix(),
    dataDir: join(folder, "native"),
    port: 0,
  });
  const [names = "", push = "", functions = "", model = "", create = "", look = "", ...rest] =
    await shellBlocks(PAGE);
  assert.deepEqual(rest, []);
  const environment: Record<string, string> = {
    SUPABASE_ACCESS_TOKEN: `sbp_${"0".repeat(40)}`,
    PROJECT_REF: api.projectRef,
    PROJECT_URL: "",
    DATABASE_URL: withoutTls(cluster.url),
    SECRET_KEY: "",
    OPENAI_API_KEY: MODEL_KEY,
  };
  const run = await documentedShell({ folder, cwd: PROJECT_ROOT, apiUrl: api.url, environment });
  try {
    await t.step("the page names everything that its commands use", () => {
      assert.deepEqual(exportedNames(names), Object.keys(environment));
    });

    await t.step("the push fills the database", async () => {
      assert.match(await run(push), /Finished supabase db push/);
    });

    await t.step("every function is deployed and the secret is set", async () => {
      await run(functions);

      const expected = [...(await findFunctions(PROJECT_ROOT)).keys()].sort();
      assert.deepEqual(api.deployments.map(({ slug }) => slug).sort(), expected);
      assert.deepEqual([...api.secrets], [["SUPASWARM_WALL_CLOCK_SECONDS", "150"]]);
    });

    await t.step("the model's key is in Vault and the agent exists", async () => {
      await run(model);

      const sql = createSql(cluster.url, { maxConnections: 1, applicationName: "deploy-page" });
      const [row] = await sql`
        select (select decrypted_secret from vault.decrypted_secrets where name = 'OPENAI_API_KEY'),
          (select count(*)::int from public.agents where slug = 'greeter') as agents`;
      // The provider's own address would be the vendor's.
      await sql`
        update public.llm_providers set base_url = 'http://127.0.0.1:9/v1', default_model = 'greeter'
        where name = 'openai'`;
      await sql.end();
      assert.deepEqual({ ...row }, { decrypted_secret: MODEL_KEY, agents: 1 });
    });
    await cluster.stop();

    await t.step("the first task completes", async () => {
      const stack = await startPlatform({
        db: "native",
        port: 0,
        dataDir: folder,
        projectRoot: PROJECT_ROOT,
        watch: false,
        onLog: () => {},
        env: Object.fromEntries(api.secrets),
      });
      try {
        stack.models.addAgent(scriptModel("greeter", () => ({
          toolCalls: [{ name: "complete_task", arguments: { output: "Good day, Ada." } }],
        })));
        const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "deploy-page" });
        await sql`
          update public.llm_providers set base_url = ${`${stack.models.url}/v1`}
          where name = 'openai'`;
        await sql.end();
        environment.PROJECT_URL = stack.apiUrl;
        environment.SECRET_KEY = stack.secretKey;

        assert.match(await run(create), /"task_id"/);
        const answer = await waitFor(async () => {
          const [task] = JSON.parse(await run(look));
          assert.equal(task?.error ?? null, null);
          return task?.status === "completed" && task;
        }, { what: "the first task" });
        assert.equal(answer.output, "Good day, Ada.");
      } finally {
        await stack.stop();
      }
    });
  } finally {
    await cluster.stop();
    await api.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
