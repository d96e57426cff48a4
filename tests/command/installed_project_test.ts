import assert from "node:assert/strict";
import { createSwarm } from "../../client/mod.ts";
import { signUp } from "../../scripts/demo/user_client.ts";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { functionSettings } from "../../scripts/platform/function_settings.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { startStack } from "../../stack/stack.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { createUserProject } from "./user_project.ts";

const AGENT = scriptTurns(
  "announcer",
  call("request_human_review", { question: "Publish?" }),
  call("save_intermediate_data", { key: "note", value: "kept" }),
  complete({ published: true }),
);

Deno.test("a project with clashing names runs jobs beside its own tables and functions", async (t) => {
  await using packed = await packCommand();
  await using project = await createUserProject();
  await installPacked(project, packed);
  const added = await project.run("npx", "--no-install", "supaswarm", "init", "--yes");
  assert.equal(added.code, 0, added.stderr);
  const models = await startModelServer({ agents: [AGENT] });
  const logs: string[] = [];
  const stack = await startStack({
    db: TEST_DATABASE,
    port: 0,
    dataDir: null,
    projectRoot: project.root,
    watch: false,
    env: {},
    functionSettings: (environment, limits) => functionSettings(environment, limits, TEST_DATABASE),
    onLog: (line) => logs.push(JSON.stringify(line)),
  });
  const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "operator" });
  try {
    await sql`
      insert into supaswarm.llm_providers (name, display_name, base_url, default_model, requires_api_key)
      values ('scripted', 'Scripted', ${`${models.url}/v1`}, 'announcer', false)`;
    await sql`
      insert into supaswarm.agents (name, slug, system_prompt, provider_id)
      select 'Announcer', 'announcer', 'Announce it.', id
      from supaswarm.llm_providers where name = 'scripted'`;
    const { client, accessToken } = await signUp(stack, "shopper");
    const swarm = createSwarm(client, {
      schema: "supaswarm",
      functions: { mcp: "supaswarm-mcp" },
    });

    await t.step("a job: its events, its review, its result", async () => {
      const job = await swarm.run("announcer", { topic: "plants" });
      const types: string[] = [];
      for await (const event of job) {
        types.push(event.type);
        if (event.type === "review.requested") {
          assert.deepEqual((await swarm.reviews.list()).map((review) => review.task_id), [job.id]);
          await job.respond(event, { approved: true });
        }
      }

      assert.deepEqual(await job.result(), { published: true });
      assert.deepEqual([types.at(0), types.at(-1)], ["task.created", "task.completed"]);
      assert.deepEqual((await swarm.jobs.list()).map(({ id }) => id), [job.id]);
    });
    await t.step("a tool call through the gateway", async () => {
      const { content } = await swarm.tools.call({ server: "swarm", name: "list_agents" }, {});

      assert.match(JSON.stringify(content), /announcer/);
    });
    await t.step(
      "the MCP endpoint has the other name, and the project's function its own",
      async () => {
        const headers = {
          apikey: stack.publishableKey,
          authorization: `Bearer ${accessToken}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        };
        const own = await fetch(`${stack.apiUrl}/functions/v1/mcp`, { headers });
        const listed = await fetch(`${stack.apiUrl}/functions/v1/supaswarm-mcp/swarm`, {
          method: "POST",
          headers,
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
        });

        assert.equal(await own.text(), "the shop's own");
        assert.match(await listed.text(), /"list_agents"/);
      },
    );
    await t.step("the project's own tables and functions are untouched", async () => {
      const { data: tasks } = await client.from("tasks").select("title");
      const { data: cancelled } = await client.rpc("cancel_task", { task_id: 7 });
      const [setting] = await sql`select mine from private.settings`;

      assert.deepEqual(tasks, [{ title: "Water the plants" }]);
      assert.equal(cancelled, "mine");
      assert.equal(setting?.mine, "development only");
    });
    await t.step("doctor finds nothing wrong, and then what an agent lacks", async () => {
      const doctor = () =>
        project.run(
          "npx",
          "--no-install",
          "supaswarm",
          "doctor",
          "--db",
          stack.dbUrl,
          "--url",
          stack.apiUrl,
        );
      // The first tick comes within 15 seconds; a job of each minute may run before it.
      await waitFor(async () => {
        const [run] = await sql`
          select from cron.job_run_details join cron.job using (jobid)
          where jobname = 'supaswarm-tick' limit 1`;
        return run;
      }, { what: "the first tick" });
      const healthy = await doctor();
      await sql`
        insert into supaswarm.agents (name, slug, system_prompt, provider_id)
        select 'Keyless', 'keyless', 'Say it.', id from supaswarm.llm_providers where name = 'openai'`;
      const lacking = await doctor();

      assert.equal(healthy.code, 0, healthy.stdout + healthy.stderr);
      assert.equal(lacking.code, 1);
      assert.match(
        lacking.stdout,
        /✗ Every agent's provider has its key in Vault: keyless needs OPENAI_API_KEY/,
      );
      assert.match(lacking.stderr, /1 of \d+ checks failed/);
    });
    await t.step("types prints the types of its agents", async () => {
      await sql`
        update supaswarm.agents set output_schema =
          '{"type": "object", "properties": {"published": {"type": "boolean"}}, "required": ["published"]}'
        where slug = 'announcer'`;

      const { stdout } = await project.run(
        "npx",
        "--no-install",
        "supaswarm",
        "types",
        "--db",
        stack.dbUrl,
      );

      assert.match(
        stdout,
        /announcer: \{\n\s+input: string \| JsonObject;\n\s+output: \{ published: boolean \};/,
      );
    });
    await t.step("no request failed inside the platform", () => {
      const errors = logs.filter((line) => line.includes('"level":"error"'));
      assert.deepEqual(errors, []);
    });
    await t.step("remove takes the platform out of the database and the folder", async () => {
      await project.commit();
      const { code, stderr } = await project.run(
        "npx",
        "--no-install",
        "supaswarm",
        "remove",
        "--yes",
        "--db",
        stack.dbUrl,
      );

      assert.equal(code, 0, stderr);
      const [found] = await sql`
        select to_regnamespace('supaswarm') as schema, to_regrole('supaswarm_caller') as login,
          to_regclass('cron.job') as cron, (select count(*)::int from public.tasks) as tasks`;
      assert.deepEqual({ ...found }, { schema: null, login: null, cron: null, tasks: 1 });
      assert.equal((await project.run("git", "diff", "--stat", "HEAD~1")).stdout, "");
    });
  } finally {
    await sql.end();
    await stack.stop();
    await models.stop();
  }
});
