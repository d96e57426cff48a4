import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { startModelServer } from "../../../scripts/models/model_server.ts";
import { scriptModel } from "../../../scripts/models/scripted_agent.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { modelOptionsOf } from "../../../shared/gateway/execute/model_options.ts";
import {
  defineTool,
  type InternalServer,
} from "../../../shared/gateway/tool_contracts/internal_server.ts";
import type { AnsweredCall } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import { startWireModel } from "../../e2e/wire_model.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { answerOf, callOf, noAbort, nobody, type ToolFixture, userCaller } from "./tool_fixture.ts";

const ask = defineTool({
  name: "ask",
  title: "Ask",
  description: "Calls a model as often as requested",
  version: "1",
  scopes: [],
  annotations: { readOnlyHint: true },
  input: z.object({
    llm_provider: z.string().optional(),
    llm_model: z.string().optional(),
    times: z.int().default(1),
    streams: z.boolean().default(false),
  }),
  output: z.object({ answers: z.array(z.json()), deltas: z.array(z.string()) }),
  async run({ llm_provider, llm_model, times, streams }, context) {
    const answers = [];
    const deltas: string[] = [];
    for (let turn = 0; turn < times; turn++) {
      const { provider, model, text, passedOver } = await context.callModel({
        provider: llm_provider,
        model: llm_model,
        system: "Be brief.",
        messages: [{ role: "user", text: "Who are you?" }],
        ...(streams ? { onDelta: (text: string) => void deltas.push(text) } : {}),
      });
      answers.push({ provider, model, text, passed: passedOver.map(({ code }) => code) });
    }
    return { answers, deltas };
  },
});

const sample: InternalServer = {
  name: "sample",
  title: "Sample",
  description: "Asks models",
  tools: [ask],
};

/** Answers with its own name, except one model that never answers. */
function namedModel(model: string) {
  return scriptModel(model, () => ({ text: `I am ${model}.` }));
}

async function openModels(fixture: ToolFixture) {
  const models = await startModelServer({
    agents: [
      ...["first-small", "first-large", "second-small", "third-small", "of-the-agent"]
        .map(namedModel),
      scriptModel("silent", () => new Promise<never>(() => {})),
    ],
  });
  const { sql } = fixture;
  for (const name of ["first", "second", "third"]) {
    await sql`
      insert into public.llm_providers
        (name, display_name, api, base_url, default_model, requires_api_key, api_key_secret_name)
      values (${name}, ${name}, 'openai', ${`${models.url}/v1`}, ${`${name}-small`},
        ${name === "third"}, ${name === "third" ? "THIRD_API_KEY" : null})`;
  }
  await sql`insert into public.tools (slug, name, type, config)
    values ('sample', 'Sample', 'internal', '{"server": "sample"}')`;
  return models;
}

async function setRow(sql: Sql, row: JsonObject | null) {
  await sql`delete from public.mcp_tool_models where mcp_name = 'sample'`;
  if (row === null) return;
  const columns = { mcp_name: "sample", tool_name: "ask", ...row };
  await sql`insert into public.mcp_tool_models
    select * from jsonb_populate_record(null::public.mcp_tool_models, ${sql.json(columns)})`;
}

async function call(
  { gateway }: ToolFixture,
  caller: ToolCaller,
  args: JsonObject = {},
  stepSeq: number | null = null,
): Promise<AnsweredCall> {
  const request = callOf({ server: "sample", toolName: "ask" }, caller, args);
  return await answerOf(gateway, { ...request, stepSeq });
}

function answersOf({ structured }: AnsweredCall) {
  return (structured as { answers: { provider: string; model: string; passed: string[] }[] })
    .answers;
}

/** A running job of a user with this budget. */
async function createJob(sql: Sql, ownerId: string, budget: JsonObject): Promise<string> {
  const slug = `agent-${crypto.randomUUID()}`;
  await sql`insert into public.agents (name, slug, system_prompt) values (${slug}, ${slug}, 'Help.')`;
  const [row] = await sql`
    select task_id as id from private.create_task(
      ${slug}, ${sql.json({ goal: "x" })}, ${ownerId}, p_budget => ${sql.json(budget)})`;
  return String(row?.id);
}

Deno.test("a tool calls the model that its caller, its row, the agent or the provider names", async (t) => {
  await using fixture = await openFixtureOnSharedDatabase({
    internalServers: { sample: () => Promise.resolve(sample) },
  });
  const { sql } = fixture;
  const models = await openModels(fixture);
  const userId = await fixture.createUser();
  const user = userCaller(userId);
  const row = {
    default_provider: "first",
    default_model: "first-large",
    supported_providers: ["second", "first", "third"],
  };
  await setRow(sql, row);

  await t.step("by default its row names the model, and the call records the usage", async () => {
    const outcome = await call(fixture, user);

    const [first] = answersOf(outcome);
    const [ledger] = await sql`
      select llm_provider, llm_model from public.mcp_executions where id = ${outcome.executionId}`;
    const used = await sql`
      select user_id, model, key_source, input_tokens > 0 as is_counted from public.usage_events
      where execution_id = ${outcome.executionId}`;
    assert.deepEqual([first?.provider, first?.model], ["first", "first-large"]);
    assert.deepEqual({ ...ledger }, { llm_provider: "first", llm_model: "first-large" });
    assert.deepEqual(used.map((use) => ({ ...use })), [{
      user_id: userId,
      model: "first-large",
      key_source: "none",
      is_counted: true,
    }]);
  });

  await t.step("a named provider uses its own default model or the named one", async () => {
    const named = answersOf(await call(fixture, user, { llm_provider: "second" }));
    const both = answersOf(
      await call(fixture, user, { llm_provider: "first", llm_model: "first-small" }),
    );
    const modelAlone = answersOf(await call(fixture, user, { llm_model: "second-small" }));

    assert.equal(named[0]?.model, "second-small");
    assert.equal(both[0]?.model, "first-small");
    assert.equal(modelAlone[0]?.provider, "second", "the provider that has the model");
  });

  await t.step(
    "a provider that the row does not support is refused without a request",
    async () => {
      await setRow(sql, { ...row, supported_providers: ["first"] });
      const before = models.journal.count("second-small");

      const refused = await call(fixture, user, { llm_provider: "second" });

      await setRow(sql, row);
      assert.equal(refused.errorCode, "TOOL_ARGUMENTS_INVALID");
      assert.match(refused.text, /Name one of: first/);
      assert.equal(models.journal.count("second-small"), before);
    },
  );

  await t.step("after a failure the next supported provider answers", async () => {
    models.failNext("first-large", { kind: "status", status: 500 });

    const [answer] = answersOf(await call(fixture, user));

    assert.equal(answer?.provider, "second");
    assert.deepEqual(answer?.passed, ["MODEL_UNAVAILABLE"]);
  });

  await t.step("an answer that was cut is an error, and its tokens are booked", async () => {
    await using wire = startWireModel();
    wire.play({ text: "I am cut", stop: "length" });
    await sql`
      insert into public.llm_providers
        (name, display_name, api, base_url, default_model, requires_api_key)
      values ('wire', 'Wire', 'openai', ${wire.baseUrlOf("openai")}, 'cut-1', false)`;
    await setRow(sql, { default_provider: "wire", supported_providers: ["wire"] });

    for (const streams of [false, true]) {
      const outcome = await call(fixture, user, { streams });

      assert.equal(outcome.errorCode, "MODEL_OUTPUT_CUT");
      assert.match(outcome.text, /answer of the model cut-1: it was cut at its output limit/);
      const used = await sql`
        select from public.usage_events where execution_id = ${outcome.executionId}`;
      assert.equal(used.length, 1);
    }
    await setRow(sql, row);
  });

  await t.step(
    "a default without a key is skipped; a named one without a key is an error",
    async () => {
      await setRow(sql, { ...row, default_provider: "third", default_model: null });

      const [answer] = answersOf(await call(fixture, user));
      const named = await call(fixture, user, { llm_provider: "third" });

      assert.equal(answer?.provider, "second");
      assert.deepEqual(answer?.passed, ["MODEL_KEY_MISSING"]);
      assert.equal(named.errorCode, "MODEL_KEY_MISSING");
      assert.match(named.text, /THIRD_API_KEY/);
      await setRow(sql, row);
    },
  );

  await t.step("the user's own key takes precedence over the organization's", async () => {
    await sql`select vault.create_secret('organisation-key', 'THIRD_API_KEY')`;
    const organisation = await call(fixture, user, { llm_provider: "third" });
    await sql`select private.set_secret('own', 'own-key', 'test')`;
    await sql`
      insert into public.user_provider_keys (user_id, provider_id, vault_secret_name)
      select ${userId}, id, 'own' from public.llm_providers where name = 'third'`;
    const own = await call(fixture, user, { llm_provider: "third" });

    const sources = await sql`
      select execution_id, key_source from public.usage_events
      where execution_id in ${sql([organisation.executionId, own.executionId])} order by id`;
    assert.deepEqual(sources.map(({ key_source }) => key_source), ["organisation", "user"]);
  });

  await t.step("models that model_policies forbids are not called", async () => {
    await sql`
      insert into public.model_policies (provider_id, is_allowed)
      select id, false from public.llm_providers where name = 'second'`;
    const before = models.journal.count("second-small");

    const denied = await call(fixture, user, { llm_provider: "second" });

    assert.equal(denied.errorCode, "MODEL_POLICY_DENIED");
    assert.equal(models.journal.count("second-small"), before);
    await sql`delete from public.model_policies`;
  });

  await t.step("without a row the calling agent's model answers, if there is one", async () => {
    await setRow(sql, null);
    const [tool] = await sql`select id from public.tools where slug = 'sample'`;
    const caller = await fixture.createCaller(userId, [String(tool?.id)]);
    await sql`
      update public.agents
      set model = 'of-the-agent',
        provider_id = (select id from public.llm_providers where name = 'second')
      where id = ${caller.agentId}`;

    const [answer] = answersOf(await call(fixture, caller));
    const none = await call(fixture, user);

    assert.deepEqual([answer?.provider, answer?.model], ["second", "of-the-agent"]);
    assert.equal(none.errorCode, "PROVIDER_NOT_FOUND");
    await setRow(sql, row);
  });

  await t.step("text is streamed while the model answers", async () => {
    const { structured } = await call(fixture, user, { streams: true });

    const { deltas } = structured as { deltas: string[] };
    assert.equal(deltas.join(""), "I am first-large.");
  });

  await t.step("a model without an answer is an llm_timeout within the row's limit", async () => {
    await setRow(sql, { ...row, timeout_ms: 12_000 });
    // Looking up the model takes part of that time.
    await sql`alter function private.begin_model_call(jsonb) rename to begin_model_call_at_once`;
    await sql`
      create function private.begin_model_call(jsonb) returns jsonb language sql as
        'select private.begin_model_call_at_once($1) from pg_sleep(1)'`;
    const outcome = await call(fixture, user, { llm_provider: "first", llm_model: "silent" });

    const [failure] = await sql`
      select execution.status, failure.error_type from public.mcp_failures failure
      join public.mcp_executions execution on execution.id = failure.execution_id
      where failure.execution_id = ${outcome.executionId}`;
    assert.equal(outcome.errorCode, "MODEL_TIMEOUT");
    assert.deepEqual({ ...failure }, { status: "timeout", error_type: "llm_timeout" });
    await sql`drop function private.begin_model_call(jsonb)`;
    await sql`alter function private.begin_model_call_at_once(jsonb) rename to begin_model_call`;
    await setRow(sql, row);
  });

  await t.step("a job with a cost cap stops before a model call inside a tool", async () => {
    const unpriced = await createJob(sql, userId, { max_cost_micro_usd: 1 });
    const inJob = (taskId: string) => ({ ...nobody(), userId, taskId });
    const before = models.journal.count("first-large");
    const noPrice = await call(fixture, inJob(unpriced), {}, 1);
    assert.equal(noPrice.errorCode, "PRICE_UNKNOWN");
    assert.equal(models.journal.count("first-large"), before, "the model was not called");

    await sql`
      insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok,
        cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
      select id, 'first-large', 1000000, 1000000, 1000000
      from public.llm_providers where name = 'first'`;
    const capped = await createJob(sql, userId, { max_cost_micro_usd: 1 });
    const dear = await call(fixture, inJob(capped), { times: 3 }, 1);
    assert.equal(dear.errorCode, "BUDGET_EXCEEDED");
    assert.equal(models.journal.count("first-large"), before, "it would cost more than the cap");

    const roomy = await createJob(sql, userId, { max_cost_micro_usd: 10_000 });
    const paid = await call(fixture, inJob(roomy), { times: 3 }, 1);
    const [task] =
      await sql`select cost_micro_usd::int as cost from public.tasks where id = ${roomy}`;
    assert.equal(paid.errorCode, undefined);
    assert.equal(models.journal.count("first-large"), before + 3, "calls that fit are made");
    assert.ok(task?.cost > 1 && task?.cost <= 10_000, "the task's total includes them");
    const [left] = await sql`select count(*)::int as count from private.job_reservations`;
    assert.equal(left?.count, 0, "their reservations were settled");
  });

  await t.step("a list of tools contains the models of the row, not of the schema", async () => {
    const { tools } = await fixture.gateway.listServerTools("sample", user, {}, noAbort());

    const [tool] = tools;
    const options = modelOptionsOf(tool?.inputSchema ?? {}, tool?.models ?? null);
    const { llm_provider } = tool?.inputSchema.properties as Record<string, JsonObject>;
    assert.deepEqual(options?.providers, ["second", "first", "third"]);
    assert.equal(options?.default_provider, "first");
    assert.equal(options?.default_model, "first-large");
    assert.deepEqual((options?.models_by_provider as JsonObject).first, [
      "first-large",
      "first-small",
    ]);
    assert.deepEqual(llm_provider?.enum, ["second", "first", "third"]);
    assert.equal(llm_provider?.default, "first");
  });

  await t.step("the index of a call within its tool is counted outside tasks too", async () => {
    const other = userCaller(await fixture.createUser());
    const failing = { llm_provider: "nobody" };

    await call(fixture, other, failing);
    await call(fixture, other, failing);
    await call(fixture, other);
    await call(fixture, other);

    const attempts = await sql`
      select execution.attempt, failure.retry_attempt from public.mcp_executions execution
      left join public.mcp_failures failure on failure.execution_id = execution.id
      where execution.user_id = ${other.userId} order by execution.created_at`;
    assert.deepEqual(attempts.map(({ attempt }) => attempt), [1, 2, 3, 1]);
    assert.deepEqual(attempts.map((row) => row.retry_attempt), [1, 2, null, null]);
  });

  await t.step("calls of one program, and those of one job, share a session", async () => {
    const editor = { ...user, clientName: "editor", joinsSession: true };
    const job = await createJob(sql, userId, {});
    const callers = [
      editor,
      editor,
      { ...editor, clientName: "another" },
      { ...nobody(), userId, taskId: job },
      { ...nobody(), userId, taskId: job },
      user,
    ];

    const sessions: unknown[] = [];
    for (const caller of callers) {
      const { executionId } = await call(fixture, caller);
      const [row] = await sql`
        select session_id from public.mcp_executions where id = ${executionId}`;
      sessions.push(row?.session_id);
    }

    const [one, again, another, inJob, againInJob, none] = sessions;
    assert.ok(one);
    assert.equal(again, one);
    assert.notEqual(another, one);
    assert.deepEqual([inJob, againInJob], [job, job]);
    assert.equal(none, null);
  });

  await models.stop();
});
