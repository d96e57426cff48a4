import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import { addAgent, addTool } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { testsSharing } from "../shared_fixture.ts";
import { buryJob } from "./bury_job.ts";
import { createIdleWait, openConsoleFixture, picture, type Reader } from "./console_fixture.ts";
import { startJob, untilChip } from "./job_steps.ts";
import { assertInert, HOST, HOSTILE, HUGE, POLLUTING, startHostileServer } from "./hostile_text.ts";

const consoleTest = testsSharing(openConsoleFixture);
const POLLUTING_JSON = POLLUTING as JsonValue;

/** Rows that users, tools, documents and operators can cause, with hostile text in all fields. */
async function plantRows(sql: Sql, userId: string): Promise<void> {
  const error = { code: HOSTILE, message: HOSTILE, hint: HOSTILE };
  await sql`update public.agents set name = ${HOSTILE}, description = ${HOSTILE}
    where slug = 'attacker'`;
  await sql`
    with skill as (
      insert into public.skills (skill_id, name, description)
      values ('attack-skill', ${HOSTILE}, ${HOSTILE}) returning id
    )
    insert into public.agent_skills (agent_id, skill_id)
    select agent.id, skill.id from public.agents as agent, skill where agent.slug = 'attacker'`;
  await sql`
    with call as (
      insert into public.mcp_executions
        (mcp_name, tool_name, tool_version, user_id, request_data, response_data, llm_model,
          execution_time_ms, status, error_message)
      values (${HOSTILE}, ${HOSTILE}, ${HOSTILE}, ${userId}, ${sql.json({ [HOSTILE]: HUGE })},
        ${sql.json(POLLUTING_JSON)}, ${HOSTILE}, 5, 'error', ${HUGE})
      returning id, feedback_token, user_id
    )
    insert into public.mcp_feedback (feedback_token, execution_id, user_id, comment)
    select feedback_token, id, user_id, ${HOSTILE} from call`;
  await plantProject(sql, userId, error);
  const id = await buryJob(sql, { agent: "attacker", ownerId: userId, error });
  await sql`
    insert into private.operator_acts (operator_id, act, owner_id, task_id, reason, details)
    values (${userId}, 'task.retried', ${userId}, ${id}, ${HOSTILE}, ${sql.json(error)})`;
}

/** A repository that could not be read, and a document that can be found. */
async function plantProject(sql: Sql, userId: string, error: JsonObject): Promise<void> {
  const [project] = await sql<{ id: string }[]>`
    insert into public.projects (slug, github_repo, default_branch, indexed_commit, indexed_at)
    values ('hostile', 'attacker/hostile', 'main', ${"a".repeat(40)}, now()) returning id`;
  const id = project?.id ?? "";
  await sql`insert into public.project_members (project_id, user_id) values (${id}, ${userId})`;
  await sql`
    insert into public.quoth_file_errors (project_id, file_path, error)
    values (${id}, ${HOSTILE}, ${sql.json(error)})`;
  await sql`
    insert into public.quoth_syncs (project_id, kind, reason, status, error, finished_at)
    values (${id}, 'tree', 'request', 'failed', ${sql.json(error)}, now())`;
}

/** Makes the definitions of the hostile server wait for approval, as if it had changed them. */
async function holdDefinitions(sql: Sql): Promise<void> {
  const held = { version: HOSTILE, schema: { description: HOSTILE, [HOSTILE]: HOSTILE } };
  const changed = await sql`
    update public.mcp_tools_cache as cache
    set state = 'quarantined', held_definition = ${sql.json(held)}
    from public.agent_mcp_connections as connection
    join public.tools as tool on tool.id = connection.tool_id
    where connection.id = cache.connection_id and tool.slug = 'hostile' and cache.tool_name = 'show'
    returning cache.id`;
  assert.ok(changed.count > 0, "the hostile server's tools were listed");
}

/** Asserts for a reader's pages that hostile text on them has no effect. */
function hostileTextWatch(reader: Reader) {
  const { page } = reader;
  const untilIdle = createIdleWait(page);
  const assertInertAt = async (where: string) => {
    await untilIdle();
    await picture(page, `hostile_${where.replaceAll(/\W+/g, "_").slice(0, 60)}`);
    await assertInert(page, where);
    assert.deepEqual(reader.offences, [], where);
  };
  /** Reloads a page, so that nothing of the previous one is left. */
  const visit = async (path: string) => {
    await page.goto("about:blank");
    await reader.go(path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
  };
  return {
    assertInertAt,
    async assertInertPage(path: string) {
      await visit(path);
      await assertInertAt(path);
    },
    /** For a page that must show the text. */
    async assertInertText(path: string) {
      await visit(path);
      const text = page.getByText(HOST).first();
      await text.waitFor({ state: "attached" }).catch(() =>
        assert.fail(`${path} shows no hostile text`)
      );
      await assertInertAt(path);
    },
  };
}

/** The attacker's actions in its job: hostile text wherever a model or a person can write. */
const VILLAIN = scriptTurns(
  "attacker",
  {
    text: HOSTILE,
    toolCalls: [{
      name: "save_intermediate_data",
      arguments: { key: "loot", value: { [HOSTILE]: HUGE, more: POLLUTING_JSON } },
    }],
  },
  call("no_such_tool", { [HOSTILE]: HOSTILE }),
  call("request_human_review", {
    question: HOSTILE,
    options: [HOSTILE, "plain"],
    context: { [HOSTILE]: HOSTILE, polluting: POLLUTING_JSON },
  }),
  complete({ [HOSTILE]: HOSTILE, polluting: POLLUTING_JSON }),
);

consoleTest(
  "output of models, tools, documents, statements and users stays text on every page",
  async (fixture) => {
    await using server = await startHostileServer();
    const { sql, stack } = fixture.platform;
    stack.models.addAgent(VILLAIN);
    await addAgent(sql, { slug: "attacker" });
    await addTool(sql, { slug: "hostile", type: "mcp_server", config: { mcp_url: server.url } });
    await sql`update public.tools set name = ${HOSTILE}, description = ${HOSTILE}
      where slug = 'hostile'`;
    await using reader = await fixture.open();
    const { page } = reader;
    const { assertInertAt, assertInertPage, assertInertText } = hostileTextWatch(reader);
    const userId = await reader.signUp("victim");
    await grantScopes(sql, userId, ["sql:read", "swarm:run", "mcp:hostile", "swarm:operate"]);
    await plantRows(sql, userId);

    const id = await startJob(reader, "attacker", HOSTILE);
    const metadata = { [HOSTILE]: HOSTILE, polluting: POLLUTING_JSON };
    await sql`update public.tasks set metadata = ${sql.json(metadata)} where id = ${id}`;
    await untilChip(reader, "Needs review");
    await assertInertText("/reviews");
    await page.getByRole("radio").first().check();
    await page.getByLabel("Comment").fill(HOSTILE);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "No open reviews" }).waitFor();
    await reader.go(`/jobs/${id}`);
    await untilChip(reader, "Completed");
    await sql`update public.tasks set storage_paths = array[${`${userId}/${id}/${HOSTILE}`}]
      where id = ${id}`;
    for (const tab of ["conversation", "data", "events"]) {
      await assertInertText(`/jobs/${id}?tab=${tab}`);
    }
    await reader.go(`/jobs/${id}?tab=trace`);
    const steps = page.getByRole("treeitem");
    await steps.nth(5).waitFor();
    for (const [index, step] of (await steps.all()).entries()) {
      await step.click();
      const prompt = page.getByText("What the model saw");
      if (index > 0 && await prompt.isVisible()) await prompt.click();
      await assertInertAt(`row ${index} of the trace`);
    }

    await assertInertText("/jobs");
    await assertInertText(`/jobs/new?from=${id}`);
    await assertInertText("/tools?server=hostile&tool=inherit");
    assert.equal(await page.getByRole("textbox", { name: /^constructor/ }).inputValue(), "");
    assert.equal(await page.getByRole("textbox", { name: /^toString/ }).inputValue(), "");
    for (const tool of ["show", "fail"]) {
      await assertInertText(`/tools?server=hostile&tool=${tool}`);
      await page.getByRole("button", { name: "Run", exact: true }).click();
      const result = page.locator("[data-result]");
      await result.waitFor();
      for (const tab of await result.getByRole("tab").all()) {
        await tab.click();
        const name = await tab.textContent();
        // The chart is the tool's own picture, which contains no text of the page.
        if (name !== "Chart") await result.getByText(HOST).first().waitFor();
        await assertInertAt(`a result of ${tool}, ${name}`);
      }
    }
    await holdDefinitions(sql);
    await assertInertText("/tools?server=hostile");
    await assertInertText("/tools?view=agents&agent=attacker");
    await assertInertText("/calls");
    await page.locator("main a[href*='id=']").last().click();
    await page.getByRole("region", { name: "Call" }).getByText(HOST).first().waitFor();
    await assertInertAt("a call");
    for (
      const statement of [
        `select $x$${HOSTILE}$x$ as "${HOSTILE.slice(0, 40).replaceAll('"', '""')}", '${
          JSON.stringify(POLLUTING)
        }'::json as polluting`,
        `select $x$${HOSTILE}$x$::int`,
      ]
    ) {
      await reader.go("/sql");
      await page.locator("[data-editor] .cm-content").click();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.insertText(statement);
      await page.keyboard.press("ControlOrMeta+Enter");
      await page.locator("[data-result]").getByText(HOST).first().waitFor();
      await assertInertAt(`the result of ${statement.slice(-12)}`);
    }
    for (const path of ["/usage", "/documents?project=hostile"]) await assertInertText(path);
    for (const view of ["failures", "dead", "acts"]) {
      await assertInertText(`/operations?view=${view}`);
    }
    for (const view of ["queue", "stuck", "jobs", "servers"]) {
      await assertInertPage(`/operations?view=${view}`);
    }
    await page.getByRole("button", { name: "Compare and approve" }).first().click();
    await page.getByRole("dialog").getByText(HOST).first().waitFor();
    await assertInertAt("the difference of a definition");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("dialog").getByText(HOST).first().waitFor();
    await assertInertAt("the palette");
  },
);

consoleTest("a URL cannot redirect from the sign-in page to another site", async (fixture) => {
  for (const next of ["//evil.example", "https://evil.example", "javascript:alert(1)", HOSTILE]) {
    await using reader = await fixture.open();
    const { page } = reader;
    await reader.signUp(`led-${crypto.randomUUID().slice(0, 8)}`);
    await reader.go(`/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    assert.ok(page.url().startsWith(fixture.console.url), page.url());
    assert.deepEqual(reader.offences, []);
  }
});

consoleTest("the password field refuses a secret key", async (fixture) => {
  await using reader = await fixture.open();
  const { page } = reader;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.postData() ?? ""));
  await reader.go("/sign-in");
  await page.getByLabel("Email").fill("somebody@example.test");
  await page.getByLabel("Password").fill(fixture.platform.stack.secretKey);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("this is a secret key, not a password").waitFor();
  const sent = asked.filter((body) => body.includes(fixture.platform.stack.secretKey));
  assert.deepEqual(sent, []);
  assert.deepEqual(reader.offences, []);
});
