import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { addAgent } from "../../e2e/operator.ts";
import { call, complete, newestResults, scriptTurns } from "../../e2e/script.ts";
import { grantScopes, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { errorOf } from "./raw_message.ts";
import { connectSdkClient } from "./sdk_client.ts";

const createdSchema = z.object({ task_id: z.guid(), status: z.string(), is_new: z.boolean() });
const jobSchema = z.object({
  task: z.looseObject({
    status: z.string(),
    output: z.unknown(),
    data_keys: z.array(z.string()),
    files: z.array(z.string()),
    input_tokens: z.number(),
  }),
  job_usage: z.object({ task_count: z.number(), input_tokens: z.number() }),
  has_ended: z.boolean(),
  open_reviews: z.array(
    z.looseObject({ task_id: z.guid(), step: z.number(), question: z.string() }),
  ),
  events: z.array(z.looseObject({ id: z.number(), type: z.string() })),
  next_cursor: z.string(),
  has_more_events: z.boolean(),
});

const promptSchema = z.object({
  system: z.string().nullable(),
  message_count: z.number(),
  system_tools: z.array(z.string()),
  messages: z.array(z.object({
    role: z.string(),
    text: z.string(),
    characters: z.number(),
    tool_calls: z.array(z.object({ name: z.string() })).optional(),
  })),
});

Deno.test("an MCP client can operate the swarm", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, stack, mcpUrl } = platform;
  for (const slug of ["scribe", "asker", "sleeper"]) await addAgent(sql, { slug });
  stack.models.addAgent(scriptTurns(
    "scribe",
    call("save_intermediate_data", { key: "note.md", value: "# Notes\n\nAll is well." }),
    complete({ note: "note.md" }),
  ));
  stack.models.addAgent(scriptTurns(
    "asker",
    call("request_human_review", { question: "Publish it?", options: ["yes", "no"] }),
    (request) => complete(newestResults(request)),
  ));
  const sleeps = Promise.withResolvers<void>();
  stack.models.addAgent(scriptTurns("sleeper", async () => {
    await sleeps.promise;
    return complete("late");
  }));
  const ada = await platform.addUser("ada");
  const eve = await platform.addUser("eve");

  await t.step("a task is created, watched to its end, and its results are read", async () => {
    const { task_id, status } = createdSchema.parse(
      await use(ada, "create_task", { agent: "scribe", input: "Write a note" }),
    );
    await using connected = await connectSdkClient({
      url: `${mcpUrl}/swarm`,
      headers: ada.headers,
    });
    const progress: number[][] = [];
    const job = await waitFor(async () => {
      const steps: number[] = [];
      const watched = await connected.client.callTool(
        { name: "get_task", arguments: { task_id, wait_seconds: 40 } },
        { onprogress: (step) => steps.push(step.progress) },
      );
      progress.push(steps);
      const seen = jobSchema.parse(watched.structuredContent);
      return seen.has_ended && seen;
    }, { what: "the end of the job" });

    assert.equal(status, "pending");
    assert.deepEqual([job.has_ended, job.task.status], [true, "completed"]);
    assert.deepEqual(job.task.output, { note: "note.md" });
    assert.deepEqual(job.task.data_keys, ["note.md"]);
    assert.ok(job.task.input_tokens > 0);
    assert.deepEqual(job.job_usage, { task_count: 1, input_tokens: job.task.input_tokens });
    const types = job.events.map(({ type }) => type);
    assert.deepEqual([types[0], types.at(-1)], ["task.created", "task.completed"]);
    assert.ok(progress.flat().length > 0);
    for (const steps of progress) {
      assert.deepEqual(
        steps,
        [...new Set(steps)].sort((a, b) => a - b),
      );
    }
    assert.deepEqual(await use(ada, "read_data", { task_id, key: "note.md" }), {
      value: "# Notes\n\nAll is well.",
    });
    const [path] = job.task.files;
    assert.deepEqual(await use(ada, "read_file", { path: path ?? "" }), {
      text: "# Notes\n\nAll is well.",
      is_cut: false,
    });
    const later = jobSchema.parse(
      await use(ada, "get_task", { task_id, cursor: job.next_cursor }),
    );
    assert.deepEqual([later.events, later.has_more_events], [[], false]);
    const malformed = await attempt(ada, "get_task", { task_id, cursor: "last week" });
    assert.equal(malformed.code, "QUERY_INVALID");
    const paged: unknown[] = [];
    let page = { next_cursor: "", has_more_events: true };
    while (page.has_more_events) {
      const read = jobSchema.parse(
        await use(ada, "get_task", { task_id, cursor: page.next_cursor, max_events: 3 }),
      );
      paged.push(...read.events);
      page = read;
    }
    assert.deepEqual(paged, job.events);
    const { steps } = await use(ada, "read_steps", { task_id });
    assert.ok(Array.isArray(steps) && steps.length >= 4);
  });

  await t.step("the model's prompt at a step is rebuilt from the transcript", async () => {
    const { task_id } = createdSchema.parse(
      await use(ada, "create_task", { agent: "scribe", input: "Write it down" }),
    );
    await untilSettled(ada, task_id);
    const read = async (seq: number, more: JsonObject = {}) =>
      promptSchema.parse(await use(ada, "read_prompt", { task_id, seq, ...more }));

    const first = await read(1);
    const second = await read(3);

    assert.deepEqual(first.messages.map(({ role, text }) => [role, text]), [
      ["user", "Write it down"],
    ]);
    assert.deepEqual(second.messages.map(({ role }) => role), ["user", "assistant", "tool"]);
    const [saved] = second.messages[1]?.tool_calls ?? [];
    assert.equal(saved?.name, "save_intermediate_data");
    assert.ok(second.system_tools.includes("complete_task"));
    assert.equal(second.system, null, "a user does not read the agent's system prompt");
    const cut = await read(3, { after_message: 2, max_characters: 3 });
    assert.equal(cut.message_count, 3);
    assert.deepEqual(cut.messages.map(({ role, text }) => [role, text.length]), [["tool", 3]]);
    assert.ok((cut.messages[0]?.characters ?? 0) > 3);
    const noModelStep = await attempt(ada, "read_prompt", { task_id, seq: 2 });
    const others = await attempt(eve, "read_prompt", { task_id, seq: 1 });
    assert.deepEqual([noModelStep.code, others.code], ["STEP_NOT_FOUND", "TASK_NOT_FOUND"]);

    const operator = await platform.addUser("operator");
    await grantScopes(sql, operator.id, ["swarm:operate", "swarm:run"]);
    const closed = await attempt(operator, "read_prompt", { task_id, seq: 3 });
    await sql.begin(async (session) => {
      await session`select set_config('request.jwt.claims', ${
        JSON.stringify({ sub: operator.id })
      }, true)`;
      await session`set local role authenticated`;
      await session`select public.operator_open_job(${task_id}::uuid, 'Its owner asked')`;
    });
    const opened = promptSchema.parse(await use(operator, "read_prompt", { task_id, seq: 3 }));
    assert.equal(closed.code, "JOB_NOT_OPENED");
    assert.deepEqual(opened.messages, second.messages, "as its owner, once the job is open");
  });

  await t.step("a fork's files can be read after the original job is deleted", async () => {
    const { task_id } = createdSchema.parse(
      await use(ada, "create_task", { agent: "scribe", input: "Write a note" }),
    );
    const { task } = await untilSettled(ada, task_id);
    const fork = await use(ada, "fork_task", { task_id, from_step: 1 });
    await sql`delete from public.tasks where id = ${task_id}::uuid`;
    const path = task.files[0] ?? "";

    const file = await use(ada, "read_file", { path });
    const foreign = await attempt(eve, "read_file", { path });

    assert.deepEqual(file, { text: "# Notes\n\nAll is well.", is_cut: false });
    assert.equal(foreign.code, "TASK_NOT_FOUND");
    await untilSettled(ada, z.guid().parse(fork.task_id));
  });

  await t.step("a task that requests a review waits for the answer and reads it", async () => {
    const { task_id } = createdSchema.parse(
      await use(ada, "create_task", { agent: "asker", input: "Ask" }),
    );
    const waiting = await untilSettled(ada, task_id);
    const step = waiting.open_reviews[0]?.step ?? 0;
    const answer = {
      task_id,
      step,
      approved: true,
      response: { choice: "yes" },
      comments: "Go ahead",
    };
    const early = await attempt(ada, "answer_review", { ...answer, step: step + 1 });
    const { status } = await use(ada, "answer_review", answer);
    const ended = await untilSettled(ada, task_id);
    const again = await attempt(ada, "answer_review", answer);

    assert.deepEqual(waiting.open_reviews.map(({ question }) => question), ["Publish it?"]);
    assert.equal(early.code, "REVIEW_NOT_FOUND");
    assert.equal(status, "pending");
    assert.equal(ended.task.status, "completed");
    assert.match(JSON.stringify(ended.task.output), /Go ahead/);
    assert.equal(again.code, "REVIEW_ALREADY_ANSWERED");
  });

  await t.step("a job is cancelled once while its model runs", async () => {
    const { task_id } = createdSchema.parse(
      await use(ada, "create_task", { agent: "sleeper", input: "Sleep" }),
    );
    await waitFor(async () => {
      const job = jobSchema.parse(await use(ada, "get_task", { task_id }));
      return job.events.some(({ type }) => type === "model.started");
    }, { what: "the model call", intervalMs: 100 });
    const first = await use(ada, "cancel_task", { task_id });
    const ended = await untilSettled(ada, task_id);
    const second = await use(ada, "cancel_task", { task_id });

    assert.deepEqual([first.ended_tasks, second.ended_tasks], [1, 0]);
    assert.equal(ended.task.status, "cancelled");
  });

  await t.step("the same idempotency key returns the same task", async () => {
    const request = { agent: "scribe", input: "Once", idempotency_key: "once" };
    const [one, two] = await Promise.all([
      use(ada, "create_task", request),
      use(ada, "create_task", request),
    ]);

    assert.equal(one.task_id, two.task_id);
    assert.deepEqual([one.is_new, two.is_new].sort(), [false, true]);
  });

  await t.step("a watch of an idle task ends after its timeout", async () => {
    const { task_id } = createdSchema.parse(
      await use(ada, "create_task", {
        agent: "scribe",
        input: "Later",
        run_after: new Date(Date.now() + 300 * 86_400_000).toISOString(),
      }),
    );
    const startedAt = performance.now();
    const job = jobSchema.parse(await use(ada, "get_task", { task_id, wait_seconds: 1 }));

    assert.deepEqual([job.has_ended, job.task.status], [false, "pending"]);
    assert.ok(performance.now() - startedAt >= 1_000);
    await use(ada, "cancel_task", { task_id });
    const { status } = await use(ada, "retry_task", { task_id });
    assert.equal(status, "pending");
  });

  await t.step("nobody can see or change another user's tasks", async () => {
    const { task_id } = createdSchema.parse(
      await use(ada, "create_task", { agent: "scribe", input: "Mine" }),
    );
    const mine = await untilSettled(ada, task_id);
    const tries: readonly (readonly [string, JsonObject])[] = [
      ["get_task", { task_id }],
      ["cancel_task", { task_id }],
      ["retry_task", { task_id }],
      ["fork_task", { task_id, from_step: 1 }],
      ["answer_review", { task_id, approved: true }],
      ["read_data", { task_id, key: "note.md" }],
      ["read_steps", { task_id }],
      ["read_file", { path: mine.task.files[0] ?? "" }],
    ];
    for (const [tool, args] of tries) {
      assert.equal((await attempt(eve, tool, args)).code, "TASK_NOT_FOUND", tool);
    }
    assert.deepEqual((await use(eve, "list_tasks", {})).tasks, []);
    const { tasks } = await use(ada, "list_tasks", { agent: "scribe", status: "completed" });
    assert.ok(JSON.stringify(tasks).includes(task_id));
  });

  await t.step("a list is paged, newest first", async () => {
    const first = await use(ada, "list_tasks", { limit: 2 });
    const second = await use(ada, "list_tasks", { limit: 2, before: first.next_before ?? "" });

    const ids = [first, second].map(({ tasks }) => idsOf(tasks));
    assert.deepEqual(ids.map((page) => page.length), [2, 2]);
    assert.equal(new Set(ids.flat()).size, 4);
  });

  await t.step("pages contain every task of one moment", async () => {
    const bob = await platform.addUser("bob");
    await sql.begin(async (transaction) => {
      for (let made = 0; made < 7; made++) {
        await transaction`select from private.create_task('scribe', '{}', ${bob.id})`;
      }
    });
    const pages: string[][] = [];
    let before: JsonObject = {};
    for (let page = 0; page < 3; page++) {
      const { tasks, next_before } = await use(bob, "list_tasks", { limit: 3, ...before });
      pages.push(idsOf(tasks));
      before = { before: next_before ?? null };
    }

    assert.deepEqual(pages.map(({ length }) => length), [3, 3, 1]);
    assert.equal(new Set(pages.flat()).size, 7);
    assert.equal(before.before, null, "the last page has no next page");
    const soon = new Date(Date.now() + 60_000).toISOString();
    assert.equal(idsOf((await use(bob, "list_tasks", { before: soon })).tasks).length, 7);
    for (const wrong of [`${soon}_no-id`, "2026-02-30T00:00:00Z"]) {
      const { code } = await attempt(bob, "list_tasks", { before: wrong });
      assert.equal(code, "TOOL_ARGUMENTS_INVALID", wrong);
    }
  });

  await t.step("an agent for named users is listed to them and works only for them", async () => {
    await addAgent(sql, { slug: "payroll" });
    await sql`
      with named as (
        update public.agents set audience = 'named' where slug = 'payroll' returning id
      )
      insert into public.agent_audience (agent_id, user_id) select id, ${ada.id}::uuid from named`;
    const request = {
      agent: "payroll",
      input: "Pay",
      run_after: new Date(Date.now() + 300 * 86_400_000).toISOString(),
    };
    const listed = async (user: McpUser) =>
      z.object({ agents: z.array(z.object({ slug: z.string() })) })
        .parse(await use(user, "list_agents", {})).agents.map(({ slug }) => slug);

    assert.ok((await listed(ada)).includes("payroll"));
    assert.ok(!(await listed(eve)).includes("payroll"));
    assert.ok((await listed(eve)).includes("scribe"));
    createdSchema.parse(await use(ada, "create_task", request));
    assert.match(JSON.stringify(await attempt(eve, "create_task", request)), /AGENT_NOT_FOUND/);
  });

  await t.step("a secret key sees all tasks, and an unknown agent has its code", async () => {
    const { last } = await platform.service({
      path: "/swarm",
      method: "tools/call",
      params: { name: "list_tasks", arguments: { limit: 1 } },
    });
    const unknown = await attempt(ada, "create_task", { agent: "writr", input: "x" });

    assert.equal(idsOf(asJsonObject(last.result?.structuredContent).tasks).length, 1);
    assert.equal(unknown.code, "AGENT_NOT_FOUND");
  });
});

/** Waits until the job has ended or waits for a person, in calls of less than a minute. */
async function untilSettled(user: McpUser, task_id: string) {
  return await waitFor(async () => {
    const seen = jobSchema.parse(await use(user, "get_task", { task_id, wait_seconds: 40 }));
    return (seen.has_ended || seen.open_reviews.length > 0) && seen;
  }, { what: "the job to end or to ask" });
}

async function use(user: McpUser, tool: string, args: JsonObject): Promise<JsonObject> {
  const { last } = await user.send({
    path: "/swarm",
    method: "tools/call",
    params: { name: tool, arguments: args },
  });
  assert.notEqual(last.result?.isError, true, JSON.stringify(last));
  return asJsonObject(last.result?.structuredContent);
}

async function attempt(user: McpUser, tool: string, args: JsonObject): Promise<JsonObject> {
  const { last } = await user.send({
    path: "/swarm",
    method: "tools/call",
    params: { name: tool, arguments: args },
  });
  assert.equal(last.result?.isError, true, JSON.stringify(last));
  return errorOf(last.result);
}

function idsOf(tasks: unknown): string[] {
  return z.array(z.object({ task_id: z.string() })).parse(tasks).map(({ task_id }) => task_id);
}
