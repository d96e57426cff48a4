import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent, addTool, grantToUser, toolId } from "../e2e/operator.ts";
import { call, complete, completeWithResults, scriptTurns, type Turn } from "../e2e/script.ts";
import { readSteps, untilTask } from "../e2e/task_view.ts";
import { bootMcpPlatform, type McpPlatform, type McpUser } from "../gateway/mcp/mcp_platform.ts";
import { type HttpFixture, startHttpServer } from "../gateway/tools/http_fixture.ts";

const EXECUTE = "/functions/v1/mcp-execute";
const PARAMETERS = {
  type: "object",
  properties: {
    to: { type: "string", pattern: "^[a-z]+$" },
    amount: { type: "integer", minimum: 1 },
  },
  required: ["to", "amount"],
  additionalProperties: false,
};
const LEDGER = `
  create table public.ledger_entries (id int primary key, owner uuid not null, note text not null);
  alter table public.ledger_entries enable row level security;
  create policy own on public.ledger_entries to authenticated using (owner = auth.uid())
    with check (owner = auth.uid());
  grant select, insert, update, delete on public.ledger_entries to authenticated;
`;

interface OpenReview {
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly question: string;
  readonly context: JsonObject;
}

/** A platform with a bank that records what it is asked to pay, and a user of it. */
interface Stage {
  readonly platform: McpPlatform;
  readonly bank: HttpFixture;
  readonly bankId: string;
  readonly ada: McpUser;
  /** The payments since the last call of this function. */
  payments(): JsonValue[];
  /** Starts a job of a new agent that plays these turns. */
  start(
    turns: readonly [Turn, ...Turn[]],
    rule?: Rule,
    providerTools?: readonly string[],
  ): Promise<string>;
  /** Waits for the task's open question. */
  asked(taskId: string): Promise<OpenReview>;
  answer(taskId: string, approved: boolean, response?: JsonObject, comments?: string): Promise<{
    readonly code: string | undefined;
  }>;
}

/** A rule for a tool of an agent. */
interface Rule {
  readonly toolId: string | null;
  readonly ask: string;
  readonly conditions?: JsonValue;
  readonly toolName?: string;
}

Deno.test("a person approves what an agent may not decide", async (t) => {
  await using platform = await bootMcpPlatform();
  const stage = await openStage(platform);
  try {
    await rulesSteps(t, stage);
    await dataFlowSteps(t, stage);
    await writeSteps(t, stage);
    await answerSteps(t, stage);
  } finally {
    await stage.bank.stop();
  }
});

async function rulesSteps(t: Deno.TestContext, stage: Stage): Promise<void> {
  const { bankId, payments, start, asked, answer, platform: { sql } } = stage;
  const always = { toolId: bankId, ask: "always" };
  const pay = (amount: number) => call("bank__bank", { to: "bob", amount });

  await t.step("what the person approves is exactly what runs, and the step has both", async () => {
    const taskId = await start([pay(500), completeWithResults], always);
    const review = await asked(taskId);
    assert.deepEqual(payments(), []);
    assert.deepEqual([review.kind, review.context.reasons], ["call", ["rule"]]);
    assert.deepEqual(review.context.arguments, { to: "bob", amount: 500 });
    assert.deepEqual(review.context.input_schema, PARAMETERS);

    await answer(taskId, true, { arguments: { to: "carl", amount: 5 } }, "Not so much");
    const { output } = await untilTask(sql, taskId, "completed");

    assert.deepEqual(payments(), [{ to: "carl", amount: 5 }]);
    assert.match(JSON.stringify(output), /carl.*and says: Not so much.*paid/s);
    const [step] = await sql`
      select input from public.task_steps where task_id = ${taskId} and kind = 'tool'`;
    assert.deepEqual(step?.input.arguments, { to: "bob", amount: 500 });
    assert.deepEqual(step?.input.approved_arguments, { to: "carl", amount: 5 });
  });

  await t.step("a rejected call does not run, and the agent reads why", async () => {
    const taskId = await start([pay(500), completeWithResults], always);
    await asked(taskId);
    await answer(taskId, false, {}, "Ask Carl first");
    const { output } = await untilTask(sql, taskId, "completed");

    assert.deepEqual(payments(), []);
    assert.match(JSON.stringify(output), /did not approve it and says: Ask Carl first/);
  });

  await t.step("a condition decides by the arguments of the call", async () => {
    const rule = {
      toolId: bankId,
      ask: "when",
      conditions: [{ argument: "/amount", operator: "above", value: 100 }],
    };
    const taskId = await start([pay(100), pay(101), complete("done")], rule);
    const { context } = await asked(taskId);

    assert.deepEqual(payments(), [{ to: "bob", amount: 100 }]);
    assert.deepEqual(context.arguments, { to: "bob", amount: 101 });
    await answer(taskId, true);
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(payments(), [{ to: "bob", amount: 101 }]);
  });

  await t.step("each of the calls of one turn is asked about and runs once", async () => {
    const both = { toolCalls: [...(pay(1).toolCalls ?? []), ...(pay(2).toolCalls ?? [])] };
    const taskId = await start([both, completeWithResults], always);
    const first = await asked(taskId);
    await answer(taskId, true);
    const second = await asked(taskId);
    assert.notEqual(second.seq, first.seq);
    assert.deepEqual([first.kind, second.kind], ["call", "call"]);
    assert.deepEqual(payments(), [first.context.arguments]);
    await answer(taskId, true);
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(payments(), [second.context.arguments]);
  });

  await t.step("arguments that the tool would refuse are refused before the question", async () => {
    const taskId = await start([
      call("bank__bank", { to: "bob" }),
      completeWithResults,
    ], always);
    const { output } = await untilTask(sql, taskId, "completed");

    assert.match(JSON.stringify(output), /do not match its schema/);
    const [row] = await sql`
      select count(*)::int as count from public.human_reviews where task_id = ${taskId}`;
    assert.equal(row?.count, 0);
  });

  await t.step("edited arguments that only the whole schema refuses do not run", async () => {
    const taskId = await start([pay(500), completeWithResults], always);
    await asked(taskId);
    await answer(taskId, true, { arguments: { to: "BOB", amount: 5 } });
    const { output } = await untilTask(sql, taskId, "completed");

    assert.deepEqual(payments(), []);
    assert.match(JSON.stringify(output), /do not match its schema/);
  });

  await t.step("numbers that would run as others are refused, and exact ones run", async () => {
    const taskId = await start([pay(500), complete("done")], always);
    await asked(taskId);
    const answerWith = (amount: string) =>
      sql.unsafe(
        "select public.respond_to_review($1::uuid, true, $2::text::jsonb)",
        [taskId, `{"arguments": {"to": "bob", "amount": ${amount}}}`],
      );
    for (const amount of ["9007199254740993", "5.00000000000000000001"]) {
      await assert.rejects(answerWith(amount), /what runs would not be what was approved/);
    }
    await assert.rejects(answerWith("1e400"), /or have a number that programs cannot read/);
    await answerWith("9007199254740992");
    await untilTask(sql, taskId, "completed");

    assert.deepEqual(payments(), [{ to: "bob", amount: 9007199254740992 }]);
  });

  await t.step("without a rule nobody is asked", async () => {
    const taskId = await start([pay(7), complete("done")]);
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(payments(), [{ to: "bob", amount: 7 }]);
  });

  await t.step(
    "tools of the model's provider are approved for the whole task, or withheld",
    async () => {
      const rule = { toolId: null, ask: "always" };
      for (const approved of [true, false]) {
        const taskId = await start([pay(3), complete("done")], rule, ["web_search"]);
        const review = await asked(taskId);
        assert.deepEqual([review.kind, review.seq], ["provider_tools", 1]);
        assert.deepEqual(review.context, { reasons: ["rule"], tools: ["web_search"] });
        await answer(taskId, approved);
        await untilTask(sql, taskId, "completed");
        assert.deepEqual(payments(), [{ to: "bob", amount: 3 }]);
      }
    },
  );

  await t.step("a user's own rule makes everyone's stricter, never weaker", async () => {
    const { ada } = stage;
    const taskId = await start(
      [pay(500), complete("done")],
      always,
      // Before the first call is made.
    );
    const [agent] = await sql`select agent_slug from public.tasks where id = ${taskId}`;
    const { error } = await ada.user.client.rpc("set_approval", {
      p_agent: agent?.agent_slug,
      p_tool: "bank",
      p_ask: "never",
    });
    assert.equal(error, null);
    await asked(taskId);
    await answer(taskId, false);
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(payments(), []);
  });
}

async function dataFlowSteps(t: Deno.TestContext, stage: Stage): Promise<void> {
  const { bankId, payments, start, asked, answer, platform: { sql } } = stage;
  await sql`
    update public.tools set data_flows = '{"*": ["sends_outside"]}' where id = ${bankId}`;
  const send = call("bank__bank", { to: "eve", amount: 1 });
  const readAll = call("supabase__execute_sql", { sql: "select 1", dry_run: false });
  const declared = { "*": ["reads_private", "reads_outside"] };
  const [before] = await sql`
    update public.tools set data_flows = ${sql.json(declared)} where slug = 'supabase'
    returning id::text`;

  await t.step(
    "a job that has read private data and outside text asks before it sends",
    async () => {
      const taskId = await start([readAll, send, complete("done")]);
      const { question, context } = await asked(taskId);
      assert.deepEqual(context.reasons, ["data_flow"]);
      assert.match(question, /sends data to 127\.0\.0\.1/);
      assert.deepEqual(payments(), []);
      await answer(taskId, true);
      await untilTask(sql, taskId, "completed");
      assert.deepEqual(payments(), [{ to: "eve", amount: 1 }]);
    },
  );

  await t.step(
    "a job that has read neither sends without a question, as does one with never",
    async () => {
      await untilTask(sql, await start([send, complete("done")]), "completed");
      const never = { toolId: bankId, ask: "never" };
      await untilTask(sql, await start([readAll, send, complete("done")], never), "completed");
      assert.equal(payments().length, 2);
    },
  );
  await sql`update public.tools set data_flows = null where id in (${bankId}, ${before?.id})`;
}

async function writeSteps(t: Deno.TestContext, stage: Stage): Promise<void> {
  const { ada, payments: _, start, asked, answer, platform } = stage;
  const { sql, project, stack } = platform;
  await sql.unsafe(LEDGER);
  const sqlId = await toolId(sql, "supabase");
  const execute = (args: JsonObject) => call("supabase__execute_sql", args);
  const notes = async () =>
    (await sql`select id, note from public.ledger_entries where owner = ${ada.id} order by id`)
      .map(({ id, note }) => `${id} ${note}`);
  const insert = (id: number) =>
    `insert into public.ledger_entries (id, owner, note) values (${id}, auth.uid(), 'note')`;
  const run = { dry_run: false, read_only: false };

  await t.step("an agent's write asks its owner, and runs as it was approved", async () => {
    const taskId = await start([
      execute({ sql: insert(1) }),
      execute({ sql: insert(1), ...run }),
      completeWithResults,
    ]);
    const review = await asked(taskId);
    assert.deepEqual(review.context.reasons, ["write"]);
    assert.deepEqual(await notes(), []);
    const shown = z.looseObject({ statement: z.string(), statement_class: z.string() })
      .parse(review.context.shown);
    assert.deepEqual([shown.statement, shown.statement_class], [insert(1), "write"]);

    const edited = insert(1).replace("'note'", "'edited'");
    assert.equal(
      (await answer(taskId, true, { arguments: { sql: edited, ...run } })).code,
      undefined,
    );
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(await notes(), ["1 edited"]);
    const dryRun = (await readSteps(sql, taskId)).find(({ kind }) => kind === "tool");
    assert.doesNotMatch(JSON.stringify(dryRun), /confirmation_token\\*"/);
  });

  await t.step("a rejected write changes nothing", async () => {
    const taskId = await start([execute({ sql: insert(2), ...run }), completeWithResults]);
    await asked(taskId);
    await answer(taskId, false);
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(await notes(), ["1 edited"]);
  });

  await t.step("records are added after the same question", async () => {
    const data = { id: 3, owner: ada.id, note: "added" };
    const add = { table: "ledger_entries", data, dry_run: false };
    const taskId = await start([call("supabase__add_records", add), complete("done")]);
    const { context } = await asked(taskId);
    assert.deepEqual(context.reasons, ["write"]);
    await answer(taskId, true);
    await untilTask(sql, taskId, "completed");
    assert.deepEqual(await notes(), ["1 edited", "3 added"]);
  });

  await t.step("a write that cannot succeed asks nobody", async () => {
    const denied = "update public.agents set name = 'mine'";
    const taskId = await start([execute({ sql: denied, ...run }), completeWithResults]);
    const { output } = await untilTask(sql, taskId, "completed");
    assert.match(JSON.stringify(output), /permission denied|not allowed|forbidden/i);
  });

  await t.step("with the rule never it runs at once, unless the SQL policy asks", async () => {
    const never = { toolId: sqlId, ask: "never" };
    const free = await start([execute({ sql: insert(4), ...run }), complete("done")], never);
    await untilTask(sql, free, "completed");
    assert.deepEqual(await notes(), ["1 edited", "3 added", "4 note"]);

    await sql`update private.sql_policy set unfiltered_writes_need_approval = true`;
    const all = { sql: "delete from public.ledger_entries", ...run };
    const taskId = await start([execute(all), complete("done")], never);
    assert.deepEqual((await asked(taskId)).context.reasons, ["sql_policy"]);
    await answer(taskId, true);
    await untilTask(sql, taskId, "completed");
    await sql`update private.sql_policy set unfiltered_writes_need_approval = false`;
    assert.deepEqual(await notes(), []);
  });

  await t.step("an approval of a harmless statement does not allow another one", async () => {
    const taskId = await start([execute({ sql: insert(5), ...run }), completeWithResults]);
    await asked(taskId);
    const forbidden = { sql: "truncate public.ledger_entries", ...run };
    await answer(taskId, true, { arguments: forbidden });
    const { output } = await untilTask(sql, taskId, "completed");
    assert.match(JSON.stringify(output), /Cannot run|rejected/);
    assert.deepEqual(await notes(), []);
  });

  await t.step("an agent cannot use a token, whoever got it", async () => {
    const offer = await sendRequest(project, {
      endpoint: EXECUTE,
      headers: ada.headers,
      body: { server: "supabase", tool_name: "execute_sql", parameters: { sql: insert(6) } },
    });
    const { structuredContent: { next_call } } = z.object({
      structuredContent: z.object({ next_call: z.record(z.string(), z.json()) }),
    }).parse(offer.body);
    const taskId = await start([execute(next_call as JsonObject), completeWithResults]);
    const { output } = await untilTask(sql, taskId, "completed");
    assert.match(JSON.stringify(output), /an agent cannot confirm/);
    assert.deepEqual(await notes(), []);

    const own = await sendRequest(project, {
      endpoint: EXECUTE,
      headers: ada.headers,
      body: { server: "supabase", tool_name: "execute_sql", parameters: next_call },
    });
    assert.equal(own.status, 200, JSON.stringify(own.body));
    assert.deepEqual(await notes(), ["6 note"], "its owner can");
  });

  await t.step("outside a task an agent's write is refused", async () => {
    const [agent] = await sql`
      select id::text from public.agents
      where slug like 'payer-%' and id not in (select agent_id from public.agent_approvals)`;
    const { body } = await sendRequest(project, {
      endpoint: EXECUTE,
      headers: { apikey: stack.secretKey },
      body: {
        server: "supabase",
        tool_name: "execute_sql",
        parameters: { sql: insert(7), ...run },
        agent_id: agent?.id,
        on_behalf_of: ada.id,
      },
    });
    assert.match(JSON.stringify(body), /APPROVAL_REQUIRED/);
    assert.deepEqual(await notes(), ["6 note"]);
  });

  await t.step("no token of an agent's write appears anywhere but as its hash", async () => {
    const hashes = new Set(
      (await sql`
        select encode(token_hash, 'hex') as hash from public.sql_confirmations where is_agents`)
        .map(({ hash }) => String(hash)),
    );
    assert.ok(hashes.size >= 4, `${hashes.size} writes`);
    const tables = [
      "public.task_steps",
      "public.task_events",
      "public.mcp_executions",
      "public.human_reviews",
      "public.sql_confirmations",
      "public.tasks",
      "public.mcp_tools_cache",
      "realtime.messages",
    ];
    const texts: string[] = [...platform.logLines];
    for (const table of tables) {
      const rows = await sql.unsafe(`select row_to_json(r)::text as text from ${table} as r`);
      texts.push(...rows.map(({ text }) => String(text)));
    }
    texts.push(...stack.models.journal.entries().map(({ body }) => body));
    const words = texts.join("\n").match(/[A-Za-z0-9_-]{43}/g) ?? [];
    assert.deepEqual(words.filter((word) => hashes.has(sha256Hex(word))), []);
  });
}

async function answerSteps(t: Deno.TestContext, stage: Stage): Promise<void> {
  const { ada, bankId, start, asked, payments, platform: { sql, project } } = stage;
  const question = call("request_human_review", { question: "Which?", options: ["red", "blue"] });
  const byRpc = async (body: JsonObject) => {
    const answer = await sendRequest(project, {
      endpoint: "/rest/v1/rpc/respond_to_review",
      headers: ada.headers,
      body,
    });
    return JSON.stringify(answer.body);
  };
  const byTool = async (parameters: JsonObject) => {
    const answer = await sendRequest(project, {
      endpoint: EXECUTE,
      headers: ada.headers,
      body: { server: "swarm", tool_name: "answer_review", parameters },
    });
    return JSON.stringify(answer.body);
  };
  const byMcp = async (args: JsonObject) =>
    JSON.stringify(
      await ada.send({
        method: "tools/call",
        params: { name: "swarm__answer_review", arguments: args },
      }),
    );
  const roads = {
    rpc: (id: string, response: JsonObject) =>
      byRpc({ p_task_id: id, p_approved: true, p_response: response }),
    http: (id: string, response: JsonObject) => byTool({ task_id: id, approved: true, response }),
    mcp: (id: string, response: JsonObject) => byMcp({ task_id: id, approved: true, response }),
  };

  for (const [road, answerBy] of Object.entries(roads)) {
    await t.step(
      `over ${road}, a review with options is approved only with one of them`,
      async () => {
        const taskId = await start([question, completeWithResults]);
        await asked(taskId);
        assert.match(await answerBy(taskId, {}), /REVIEW_CHOICE_INVALID/);
        assert.match(await answerBy(taskId, { choice: "green" }), /REVIEW_CHOICE_INVALID/);
        assert.match(await answerBy(taskId, { choice: "blue" }), /pending/);
        assert.match(await answerBy(taskId, { choice: "red" }), /REVIEW_ALREADY_ANSWERED/);
        const { output } = await untilTask(sql, taskId, "completed");
        assert.match(JSON.stringify(output), /blue/);
      },
    );

    await t.step(`over ${road}, edited arguments must match the tool's schema`, async () => {
      const pay = call("bank__bank", { to: "bob", amount: 500 });
      const taskId = await start([pay, complete("done")], { toolId: bankId, ask: "always" });
      await asked(taskId);
      for (
        const args of [{ to: "bob" }, { to: "bob", amount: 0 }, { to: "bob", amount: 1, x: 1 }]
      ) {
        assert.match(await answerBy(taskId, { arguments: args }), /REVIEW_ARGUMENTS_INVALID/);
      }
      assert.match(await answerBy(taskId, { arguments: { to: "bob", amount: 2 } }), /pending/);
      await untilTask(sql, taskId, "completed");
      assert.deepEqual(payments(), [{ to: "bob", amount: 2 }]);
    });
  }
}

async function openStage(platform: McpPlatform): Promise<Stage> {
  const { sql, stack, project } = platform;
  const bank = startHttpServer(() => new Response("paid"));
  const ada = await platform.addUser("ada");
  const bankId = await addTool(sql, {
    slug: "bank",
    type: "http_api",
    config: { method: "POST", url: `${bank.url}/pay`, parameters: PARAMETERS },
  });
  const sqlId = await toolId(sql, "supabase");
  await grantToUser(sql, ada.id, [bankId]);
  await sql`select public.grant_scopes(${ada.id}::uuid, '{sql:read,sql:write}')`;
  let agentCount = 0;
  let paidCount = 0;
  return {
    platform,
    bank,
    bankId,
    ada,
    payments: () => {
      const fresh = bank.seen.slice(paidCount).map(({ body }) => JSON.parse(body) as JsonValue);
      paidCount = bank.seen.length;
      return fresh;
    },
    start: async (turns, rule, providerTools = []) => {
      const slug = `payer-${++agentCount}`;
      await addAgent(sql, { slug, tools: [{ id: bankId }, { id: sqlId }] });
      await sql`
        update public.agents
        set provider_tools = array(select jsonb_array_elements_text(${
        sql.json([...providerTools])
      }))
        where slug = ${slug}`;
      if (rule !== undefined) {
        const { toolId: ruleToolId, ask, conditions = null, toolName = "*" } = rule;
        await sql`
          insert into public.agent_approvals (agent_id, tool_id, tool_name, ask, conditions)
          select id, ${ruleToolId}, ${toolName}, ${ask},
            ${conditions === null ? null : sql.json(conditions)}::jsonb
          from public.agents where slug = ${slug}`;
      }
      stack.models.addAgent(scriptTurns(slug, ...turns));
      const body = { agent: slug, input: "Go" };
      return created(await sendRequest(project, { headers: ada.headers, body })).task_id;
    },
    asked: async (taskId) => {
      await untilTask(sql, taskId, "needs_human_review");
      const [review] = await sql<OpenReview[]>`
        select id, seq, kind, question, context from public.human_reviews
        where task_id = ${taskId} and answered_at is null`;
      assert.ok(review !== undefined);
      return review;
    },
    answer: async (taskId, approved, response = {}, comments) => {
      const { error } = await ada.user.client.rpc("respond_to_review", {
        p_task_id: taskId,
        p_approved: approved,
        p_response: response,
        ...(comments === undefined ? {} : { p_comments: comments }),
      });
      return { code: error?.details };
    },
  };
}
