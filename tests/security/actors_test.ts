import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { refused, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent, addTool, grantToUser } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { untilTask } from "../e2e/task_view.ts";
import { grantScopes, type McpPlatform, type McpUser } from "../gateway/mcp/mcp_platform.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { oauthClientOf } from "./oauth_client.ts";

const EXECUTE = "/functions/v1/mcp-execute";
const resultSchema = z.object({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structuredContent: z.unknown().optional(),
});

/** Database functions as an operator might register them. */
const FUNCTIONS = `
  create function public.approve(p_task uuid) returns text language sql volatile
    as $$ select public.respond_to_review(p_task, true) $$;
  create function public.approve_in_disguise(p_task uuid) returns text language plpgsql volatile as $$
  begin
    perform set_config('request.jwt.claims', json_build_object('sub', auth.uid(), 'role', 'authenticated')::text, true);
    return public.respond_to_review(p_task, true);
  end $$;
  create function public.who() returns text language sql stable as $$ select auth.uid()::text $$;
  grant execute on function public.approve, public.approve_in_disguise, public.who to authenticated;
`;

const HELPER = "actors-helper";
const CLERK = "actors-clerk";
const BOSS = "actors-boss";
const WORKER = "actors-worker";
const NOTES = "actors-notes";

let opened: Promise<McpPlatform> | undefined;

/** The shared platform with an agent for the tasks of these tests. */
async function openPlatform(): Promise<McpPlatform> {
  const platform = await sharedPlatform();
  await addAgent(platform.sql, { slug: HELPER });
  return platform;
}

Deno.test("an agent never acts as the user whose task it works on", async (t) => {
  const platform = await (opened ??= openPlatform());
  const { sql, project, stack } = platform;
  const ada = await platform.addUser("ada");
  await sql.unsafe(FUNCTIONS);
  await sql`select pg_notify('pgrst', 'reload schema')`;
  await sendRequest(project, { endpoint: EXECUTE, method: "GET", headers: ada.headers });
  const tools = await registerTools(platform, ada);
  await addAgent(sql, { slug: CLERK, tools: Object.values(tools).map((id) => ({ id })) });
  const job = await createTask(platform, ada, CLERK, { max_tasks: 2 });
  const asAgent = (server: string, tool: string, parameters: JsonObject, taskId = job) =>
    executeAsAgent(platform, { server, tool, parameters, taskId });
  const review = () => taskInReview(platform, ada);
  const isOpen = async (taskId: string) => {
    const [row] = await sql`
      select answered_at is null as is_open from public.human_reviews where task_id = ${taskId}`;
    return row?.is_open;
  };

  await t.step("the swarm server does not answer, retry or fork anything for it", async () => {
    const asked = await review();
    const failed = await failedTask(platform, ada);
    const other = await createTask(platform, ada, HELPER);
    const attempts = [
      ["answer_review", { task_id: asked, approved: true }],
      ["retry_task", { task_id: failed }],
      ["continue_task", { task_id: failed, input: "Go on" }],
      ["fork_task", { task_id: failed, from_step: 1 }],
      ["cancel_task", { task_id: other }],
    ] as const;
    for (const [tool, parameters] of attempts) {
      const { text, isError } = await asAgent("swarm", tool, parameters);
      assert.ok(isError && /an agent may not do this/.test(text), `${tool}: ${text}`);
    }
    assert.equal(await isOpen(asked), true);
    assert.equal(
      (await asAgent("swarm", "get_task", { task_id: asked })).isError,
      false,
      "it reads",
    );
  });

  await t.step("a registered function does nothing for it, even with other claims", async () => {
    for (const name of ["approve", "approve_in_disguise"]) {
      const asked = await review();
      const { text, isError } = await asAgent(name, name, { p_task: asked });
      assert.ok(isError && /an agent may not do this/.test(text), `${name}: ${text}`);
      assert.equal(await isOpen(asked), true);
    }
    const { text } = await asAgent("who", "who", {});
    assert.match(text, new RegExp(ada.id), "it still runs as the owner");
  });

  await t.step("an HTTP tool at the project's own address refuses it", async () => {
    for (const name of ["own-rest", "own-rest-as-service"]) {
      const asked = await review();
      const { text, isError } = await asAgent(name, name, { p_task_id: asked, p_approved: true });
      assert.ok(isError, name);
      assert.match(text, /HTTP 403|an agent may not use/, `${name}: ${text}`);
      assert.equal(await isOpen(asked), true);
    }
    const { text, isError } = await asAgent("own-registry", "own-registry", {});
    assert.ok(!isError && text.includes(HELPER), `reading still works: ${text}`);
  });

  await t.step("a tool at the project's own Auth refuses it", async () => {
    const { text, isError } = await asAgent("own-auth", "own-auth", {
      password: "changed-by-agent",
    });

    assert.ok(isError && /own Auth/.test(text), text);
  });

  await t.step("the task that it creates is a subtask that spends the job's budget", async () => {
    const request = { agent: HELPER, input: "Help", run_after: inAnHour() };
    const first = await asAgent("swarm", "create_task", request);
    const second = await asAgent("swarm", "create_task", request);
    const third = await asAgent("own-create", "own-create", request);

    assert.equal(first.isError, false, first.text);
    assert.match(second.text, /TASKS_EXCEEDED|the job may have 2 tasks/);
    assert.match(third.text, /TASKS_EXCEEDED/);
    const children = await sql`
      select id::text, parent_id::text, created_by::text, depth from public.tasks
      where master_task_id = ${job} and id <> ${job}`;
    assert.deepEqual(
      children.map(({ parent_id, created_by, depth }) => [parent_id, created_by, depth]),
      [
        [job, ada.id, 1],
      ],
    );
    const capped = await asAgent("swarm", "create_task", { ...request, budget: { max_tasks: 9 } });
    assert.match(capped.text, /cannot have its own budget/);
  });

  await t.step("the endpoint creates subtasks for an agent's requests as well", async () => {
    const parent = await createTask(platform, ada, CLERK);
    const { text, isError } = await asAgent("own-create", "own-create", {
      agent: HELPER,
      input: "Help",
    }, parent);

    assert.equal(isError, false, text);
    const [child] = await sql`select parent_id::text from public.tasks where parent_id = ${parent}`;
    assert.equal(child?.parent_id, parent);
  });

  await t.step("a task waits for the subtasks that it created, and then ends", async () => {
    stack.models.addAgent(scriptTurns(BOSS, (request) => {
      const isAsked = JSON.stringify(request.messages).includes("is_new");
      return isAsked
        ? complete("delegated")
        : call("swarm__create_task", { agent: WORKER, input: "Go" });
    }));
    stack.models.addAgent(scriptTurns(WORKER, complete("done")));
    await addAgent(sql, { slug: BOSS, tools: [{ id: tools.swarm }] });
    await addAgent(sql, { slug: WORKER });
    const taskId = await createTask(platform, ada, BOSS, undefined, null);

    const ended = await untilTask(sql, taskId, "completed");
    assert.equal(ended.output, "delegated");
    const [child] = await sql`select status, output from public.tasks where parent_id = ${taskId}`;
    assert.deepEqual({ ...child }, { status: "completed", output: "done" });
  });

  await t.step("the token of a tool call has an agent's permissions while it runs", async () => {
    const parent = await createTask(platform, ada, CLERK);
    const token = await toolToken(platform, { user: ada, taskId: parent });
    const headers = { "x-supaswarm-token": token };
    const asked = await review();

    const answered = await sendRequest(project, {
      endpoint: EXECUTE,
      headers,
      body: {
        server: "swarm",
        tool_name: "answer_review",
        parameters: { task_id: asked, approved: true },
      },
    });
    assert.match(JSON.stringify(answered.body), /AGENT_NOT_ALLOWED/);
    assert.equal(await isOpen(asked), true);
    const who = await sendRequest(project, {
      endpoint: EXECUTE,
      headers,
      body: { server: "who", tool_name: "who", parameters: {} },
    });
    assert.match(JSON.stringify(who.body), new RegExp(ada.id));
    const made = await sendRequest(project, { headers, body: { agent: HELPER, input: "Help" } });
    assert.equal(made.status, 201);
    const [child] =
      await sql`select count(*)::int as count from public.tasks where parent_id = ${parent}`;
    assert.equal(child?.count, 1);
    for (
      const endpoint of [
        "/functions/v1/mcp-feedback",
        "/functions/v1/mcp-oauth",
        "/functions/v1/quoth-sync",
      ]
    ) {
      const { status, body } = await sendRequest(project, { endpoint, headers, body: {} });
      assert.deepEqual([status, refused({ status, body, headers: new Headers() }).code], [
        403,
        "AGENT_NOT_ALLOWED",
      ], endpoint);
    }

    await sql`update private.tool_tokens set expires_at = now() - interval '1 second'`;
    const late = await sendRequest(project, { headers, body: { agent: HELPER, input: "Help" } });
    assert.deepEqual([late.status, refused(late).code], [401, "UNAUTHORIZED"]);
  });

  await t.step("the header does not grant the permissions of another user's task", async () => {
    const eve = await platform.addUser("eve");
    const { status, body } = await sendRequest(project, {
      headers: {
        ...eve.headers,
        "x-supaswarm-actor": "agent",
        "x-supaswarm-task-id": job,
      },
      body: { agent: HELPER, input: "Help" },
    });

    assert.equal(status, 404, JSON.stringify(body));
  });
});

Deno.test("a review stores who answered it, and through which client", async () => {
  const platform = await (opened ??= openPlatform());
  const { sql, stack, project } = platform;
  const ada = await platform.addUser("ada");
  await grantScopes(sql, ada.id, ["swarm:run"], "editor");
  const editor = await headersOfClient(platform, ada, "editor");
  const rpc = (headers: Readonly<Record<string, string>>, taskId: string) =>
    sendRequest(project, {
      endpoint: "/rest/v1/rpc/respond_to_review",
      headers,
      body: { p_task_id: taskId, p_approved: true },
    });
  const ways = [
    { by: (id: string) => rpc(ada.headers, id), is: [ada.id, "user", "rest", null] },
    { by: (id: string) => rpc(editor, id), is: [ada.id, "client", "rest", "editor"] },
    {
      by: (id: string) => rpc({ apikey: stack.secretKey }, id),
      is: [null, "service", "rest", null],
    },
    {
      by: (id: string) => answerByTool(platform, editor, id),
      is: [ada.id, "client", "tool", "editor"],
    },
    {
      by: (id: string) => answerByTool(platform, ada.headers, id),
      is: [ada.id, "user", "tool", null],
    },
    {
      by: (id: string) =>
        answerByTool(platform, { apikey: stack.secretKey }, id, { on_behalf_of: ada.id }),
      is: [ada.id, "service", "tool", null],
    },
  ];
  for (const { by, is } of ways) {
    const taskId = await taskInReview(platform, ada);

    const { status, body } = await by(taskId);

    assert.equal(status, 200, JSON.stringify(body));
    const [row] = await sql`
      select created_by::text, answered_as, answered_through, client_id
      from public.human_reviews where task_id = ${taskId}`;
    assert.deepEqual(
      [row?.created_by, row?.answered_as, row?.answered_through, row?.client_id],
      is,
    );
  }
});

Deno.test("an OAuth client's token is limited to its scopes everywhere", async (t) => {
  const platform = await (opened ??= openPlatform());
  const { sql, project } = platform;
  const ada = await platform.addUser("ada");
  await addTool(sql, {
    slug: NOTES,
    type: "http_api",
    config: httpConfig("https://notes.example"),
  });
  await grantScopes(sql, ada.id, ["quoth:read"], "reader");
  await grantScopes(sql, ada.id, ["swarm:run"], "runner");
  await grantScopes(sql, ada.id, ["credentials:write"], "keeper");
  const [reader, runner, keeper] = [
    await headersOfClient(platform, ada, "reader"),
    await headersOfClient(platform, ada, "runner"),
    await headersOfClient(platform, ada, "keeper"),
  ];
  const unknown = await headersOfClient(platform, ada, "never granted anything");
  const newTask = { agent: HELPER, input: "Help", run_after: inAnHour() };
  const rest = (name: string, body: JsonObject) => ({ endpoint: `/rest/v1/rpc/${name}`, body });
  const asked = await taskInReview(platform, ada);
  const failed = await failedTask(platform, ada);
  const attempts = [
    {
      of: { endpoint: "/functions/v1/supaswarm-create-task", body: newTask },
      scope: "swarm:run",
    },
    { of: rest("respond_to_review", { p_task_id: asked, p_approved: true }), scope: "swarm:run" },
    { of: rest("retry_task", { p_task_id: failed }), scope: "swarm:run" },
    { of: rest("continue_task", { p_task_id: failed, p_input: "Go on" }), scope: "swarm:run" },
    { of: rest("watch_task", { p_task_id: failed }), scope: "swarm:run" },
    { of: rest("fork_task", { p_task_id: failed, p_from_seq: 1 }), scope: "swarm:run" },
    { of: rest("cancel_task", { p_master_task_id: asked }), scope: "swarm:run" },
    {
      of: {
        endpoint: "/functions/v1/mcp-feedback",
        body: { feedback_token: crypto.randomUUID(), rating: "up" },
      },
      scope: "swarm:run",
    },
    {
      of: rest("set_provider_key", { p_provider: "openai", p_secret: "sk-mine" }),
      scope: "credentials:write",
    },
    {
      of: rest("set_tool_credential", { p_tool_slug: NOTES, p_secret: "mine" }),
      scope: "credentials:write",
    },
    {
      of: { endpoint: "/functions/v1/mcp-oauth", body: { server: NOTES } },
      scope: "credentials:write",
    },
  ];

  for (const { of, scope } of attempts) {
    await t.step(`${of.endpoint} needs ${scope}`, async () => {
      const without = scope === "swarm:run" ? [reader, keeper] : [reader, runner, unknown];
      for (const headers of without) {
        const { status, body } = await sendRequest(project, { ...of, headers });
        assert.equal(status, 403, JSON.stringify(body));
        assert.match(JSON.stringify(body), /INSUFFICIENT_SCOPE/);
        assert.ok(JSON.stringify(body).includes(scope), "the error names the scope");
      }
      const headers = scope === "swarm:run" ? runner : keeper;
      const { body } = await sendRequest(project, { ...of, headers });
      assert.doesNotMatch(JSON.stringify(body ?? null), /INSUFFICIENT_SCOPE/);
    });
  }

  await t.step("rows need the scope of their contents, except in user sessions", async () => {
    const read = async (headers: Readonly<Record<string, string>>, table: string) => {
      const { body } = await sendRequest(project, {
        endpoint: `/rest/v1/${table}?select=*`,
        method: "GET",
        headers,
      });
      return z.array(z.unknown()).parse(body).length;
    };
    for (const table of ["tasks", "human_reviews", "task_events"]) {
      assert.equal(await read(reader, table), 0, table);
      assert.ok(await read(runner, table) > 0, table);
      assert.ok(await read(ada.headers, table) > 0, table);
    }
  });
});

async function registerTools(platform: McpPlatform, ada: McpUser) {
  const { sql, project, stack } = platform;
  const { apiUrl, publishableKey } = project;
  const rpcUrl = `${apiUrl}/rest/v1/rpc/respond_to_review`;
  const own = { in: "header", name: "Authorization", prefix: "Bearer " };
  const apikey = { apikey: publishableKey };
  const http = (slug: string, config: JsonObject, secret: string) =>
    addTool(sql, { slug, type: "http_api", config, secret: { name: slug, value: secret } });
  const rpc = (slug: string) =>
    addTool(sql, { slug, type: "supabase_rpc", config: { function: `public.${slug}` } });
  const token = ada.user.accessToken;
  const added = {
    "own-rest": await http(
      "own-rest",
      { ...httpConfig(rpcUrl), headers: apikey, auth: own },
      token,
    ),
    "own-rest-as-service": await http("own-rest-as-service", {
      ...httpConfig(rpcUrl),
      auth: { in: "header", name: "apikey" },
    }, stack.secretKey),
    "own-create": await http("own-create", {
      ...httpConfig(`${apiUrl}/functions/v1/supaswarm-create-task`),
      headers: apikey,
      auth: own,
    }, token),
    "own-auth": await http("own-auth", {
      ...httpConfig(`${apiUrl}/auth/v1/user`),
      method: "PUT",
      headers: apikey,
      auth: own,
    }, token),
    "own-registry": await http("own-registry", {
      ...httpConfig(`${apiUrl}/rest/v1/agents?select=slug`),
      method: "GET",
      headers: apikey,
      auth: own,
    }, token),
    "approve": await rpc("approve"),
    "approve_in_disguise": await rpc("approve_in_disguise"),
    "who": await rpc("who"),
  };
  await grantToUser(sql, ada.id, Object.values(added));
  const [swarm] = await sql`select id::text from public.tools where slug = 'swarm'`;
  return { ...added, swarm: z.string().parse(swarm?.id) };
}

function httpConfig(url: string): JsonObject {
  return { method: "POST", url, parameters: { type: "object", additionalProperties: true } };
}

interface AgentCall {
  readonly server: string;
  readonly tool: string;
  readonly parameters: JsonObject;
  readonly taskId: string;
}

/** Calls a tool as the task's agent does. */
async function executeAsAgent(
  { sql, project, stack }: McpPlatform,
  { server, tool, parameters, taskId }: AgentCall,
) {
  const [task] = await sql`select agent_id::text from public.tasks where id = ${taskId}`;
  const { status, body } = await sendRequest(project, {
    endpoint: EXECUTE,
    headers: { apikey: stack.secretKey },
    body: {
      server,
      tool_name: tool,
      parameters,
      task_id: taskId,
      agent_id: z.string().parse(task?.agent_id),
    },
  });
  if (status !== 200) return { isError: true, text: JSON.stringify(body) };
  const { isError = false } = resultSchema.parse(body);
  return { isError, text: JSON.stringify(body) };
}

async function answerByTool(
  { project }: McpPlatform,
  headers: Readonly<Record<string, string>>,
  taskId: string,
  more: JsonObject = {},
) {
  return await sendRequest(project, {
    endpoint: EXECUTE,
    headers,
    body: {
      server: "swarm",
      tool_name: "answer_review",
      parameters: { task_id: taskId, approved: true },
      ...more,
    },
  });
}

async function createTask(
  { sql }: McpPlatform,
  { id }: McpUser,
  agent: string,
  budget?: JsonObject,
  runAfter: string | null = inAnHour(),
): Promise<string> {
  const [row] = await sql`
    select task_id::text from private.create_task(${agent}, '"Do it"', ${id},
      p_run_after => ${runAfter}::timestamptz,
      p_budget => ${budget === undefined ? null : sql.json(budget)}::jsonb)`;
  return z.string().parse(row?.task_id);
}

async function taskInReview(platform: McpPlatform, user: McpUser): Promise<string> {
  const { sql } = platform;
  const taskId = await createTask(platform, user, HELPER);
  await sql`
    insert into public.human_reviews (task_id, seq, question) values (${taskId}, 1, 'Send 9,000?')`;
  await sql`
    update public.tasks set status = 'needs_human_review' where id = ${taskId}`;
  return taskId;
}

async function failedTask(platform: McpPlatform, user: McpUser): Promise<string> {
  const taskId = await createTask(platform, user, HELPER);
  await platform.sql`
    update public.tasks set status = 'failed', error = '{}', finished_at = now()
    where id = ${taskId}`;
  return taskId;
}

/** The token that an edge function would receive with a call in this task. */
async function toolToken(
  { sql }: McpPlatform,
  { user, taskId }: { readonly user: McpUser; readonly taskId: string },
): Promise<string> {
  const token = `swt_${crypto.randomUUID()}`;
  await sql`
    select private.issue_tool_token(
      jsonb_build_object('user_id', created_by, 'task_id', id, 'agent_id', agent_id,
        'tool', 'render', 'execution_id', gen_random_uuid()),
      encode(sha256(convert_to(${token}, 'utf8')), 'hex'), 60)
    from public.tasks where id = ${taskId} and created_by = ${user.id}`;
  return token;
}

async function headersOfClient(platform: McpPlatform, { user }: McpUser, clientId: string) {
  return (await oauthClientOf(platform, user.accessToken, clientId)).headers;
}

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString();
}
