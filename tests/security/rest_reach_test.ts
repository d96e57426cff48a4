import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import { addAgent, addTool, grantToUser } from "../e2e/operator.ts";
import { sendRequest } from "../e2e/create_task_endpoint.ts";
import type { McpPlatform, McpUser } from "../gateway/mcp/mcp_platform.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";

const EXECUTE = "/functions/v1/mcp-execute";

const resultSchema = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string().optional() })).default([]),
});

/** Database functions with the permissions of their caller, as an operator might register them. */
const FUNCTIONS = `
  create function public.count_partition(p_name text) returns bigint language plpgsql stable as $$
  declare
    v_count bigint;
  begin
    execute format('select count(*) from private.%I', p_name) into v_count;
    return v_count;
  end $$;
  create function public.count_steps() returns bigint language sql stable
    as $$ select count(*) from public.task_steps $$;
  create function public.go_on(p_task uuid) returns text language sql volatile
    as $$ select public.continue_task(p_task, '"Send it all"') $$;
  create function public.fork(p_task uuid) returns uuid language sql volatile
    as $$ select public.fork_task(p_task, 1) $$;
  create function public.decide(p_id uuid) returns text language sql volatile
    as $$ select public.approve_statement(p_id, true) $$;
  create function public.start(p_agent text) returns uuid language sql volatile
    as $$ select task_id from private.create_task(p_agent, '"Go"', auth.uid()) $$;
  grant execute on function public.count_partition, public.count_steps, public.go_on, public.fork,
    public.decide, public.start to authenticated;
`;
const TOOLS = ["count_partition", "count_steps", "go_on", "fork", "decide", "start"] as const;

Deno.test("the REST API and registered functions reach only the caller's own data", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, project } = platform;
  const [ada, eve] = [await platform.addUser("ada"), await platform.addUser("eve")];
  await sql.unsafe(FUNCTIONS);
  const tools: string[] = [];
  for (const slug of TOOLS) {
    tools.push(
      await addTool(sql, { slug, type: "supabase_rpc", config: { function: `public.${slug}` } }),
    );
  }
  for (const { id } of [ada, eve]) await grantToUser(sql, id, tools);
  await addAgent(sql, { slug: "registrar", tools: tools.map((id) => ({ id })) });
  const ended = await endedTask(platform, ada);
  const partitions = await partitionsOf(platform);
  const get = (path: string, headers: Readonly<Record<string, string>>) =>
    sendRequest(project, { endpoint: `/rest/v1/${path}`, method: "GET", headers });

  await t.step("a partition is not a table of the API", async () => {
    for (const name of partitions) {
      const asTable = await get(`${name}?select=*`, eve.headers);
      assert.equal(asTable.status, 404, name);
      const asSchema = await get(`${name}?select=*`, {
        ...eve.headers,
        "accept-profile": "private",
      });
      assert.equal(asSchema.status, 406, name);
    }
  });

  await t.step("the partitioned table shows each user their own rows", async () => {
    for (const path of ["task_steps", "task_events", "tasks?select=id,task_steps(*)"]) {
      assert.deepEqual((await get(path, eve.headers)).body, [], path);
      assert.notDeepEqual((await get(path, ada.headers)).body, [], path);
    }
  });

  await t.step(
    "a registered function reads no partition, and only its caller's rows of the table",
    async () => {
      for (const name of partitions) {
        const { text } = await execute(platform, eve, "count_partition", { p_name: name });
        assert.match(text, /permission denied/, `${name}: ${text}`);
      }
      assert.equal((await execute(platform, eve, "count_steps", {})).answer, "0");
      assert.equal((await execute(platform, ada, "count_steps", {})).answer, "1");
    },
  );

  await t.step("a user can do with a registered function what they may do directly", async () => {
    const { text, isError } = await execute(platform, ada, "go_on", { p_task: ended });
    assert.ok(!isError && text.includes("pending"), text);
    await endTask(platform, ended);
    const direct = await execute(platform, ada, "start", { p_agent: "registrar" });
    assert.match(
      direct.text,
      /permission denied/,
      "users cannot call the function that creates tasks",
    );
  });

  await t.step("an agent cannot continue, fork or approve anything with one", async () => {
    const open = await createTask(platform, ada);
    const waiting = await waitingStatement(platform, ada);
    const attempts = [
      ["go_on", { p_task: ended }],
      ["fork", { p_task: ended }],
      ["decide", { p_id: waiting }],
    ] as const;
    for (const [tool, parameters] of attempts) {
      const { text, isError } = await execute(platform, open, tool, parameters);
      assert.ok(isError && /an agent may not do this/.test(text), `${tool}: ${text}`);
    }
    const [row] = await sql`
      select (select count(*)::int from public.tasks where created_by = ${ada.id}) as tasks,
        (select is_approved from public.sql_confirmations where id = ${waiting}) as is_approved`;
    assert.deepEqual({ ...row }, { tasks: 2, is_approved: null });
  });

  await t.step("the token of a tool call is not a credential of the REST API", async () => {
    const { taskId } = await createTask(platform, ada);
    const token = `swt_${crypto.randomUUID()}`;
    await sql`
      select private.issue_tool_token(
        jsonb_build_object('user_id', created_by, 'task_id', id, 'agent_id', agent_id,
          'tool', 'render', 'execution_id', gen_random_uuid()),
        encode(sha256(convert_to(${token}, 'utf8')), 'hex'), 60)
      from public.tasks where id = ${taskId}`;
    const apikey = project.publishableKey;
    for (
      const headers of [
        { apikey: token },
        { apikey, authorization: `Bearer ${token}` },
        { apikey, "x-supaswarm-token": token },
      ]
    ) {
      const { status, body } = await sendRequest(project, {
        endpoint: "/rest/v1/rpc/continue_task",
        headers,
        body: { p_task_id: ended, p_input: "Go on" },
      });
      assert.ok([401, 403, 404].includes(status), `${status} ${JSON.stringify(body)}`);
    }
  });

  await t.step("unusual headers and queries are refused or read literally", async () => {
    const body = { p_task_id: ended, p_input: "Go on" };
    const asActor = (headers: Readonly<Record<string, string>>) =>
      sendRequest(project, {
        endpoint: "/rest/v1/rpc/continue_task",
        headers: { ...ada.headers, ...headers },
        body,
      });
    for (
      const taskId of ["", "'; drop table tasks; --", ended.toUpperCase(), "%00", "x".repeat(4_000)]
    ) {
      const { status, body: answer } = await asActor({
        "x-supaswarm-actor": "agent",
        "x-supaswarm-task-id": taskId,
      });
      assert.match(JSON.stringify(answer), /AGENT_NOT_ALLOWED/, `${status} ${taskId.slice(0, 40)}`);
    }
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`x-h-${at}`, "v".repeat(50)]),
    );
    assert.equal((await asActor(many)).status, 200);
    await endTask(platform, ended);
    for (
      const query of [
        `id=eq.${ended}&${"a=eq.1&".repeat(200)}`,
        `select=${"id,".repeat(500)}id`,
        "id=in.(%00)",
        "or=(((((((((id.is.null)))))))))",
        "id=eq.%ED%A0%80",
        "select=*,agents(system_prompt)",
      ]
    ) {
      const { status, body: answer } = await get(`tasks?${query}`, eve.headers);
      assert.ok(status < 500, `${status} ${query.slice(0, 60)} ${JSON.stringify(answer)}`);
      if (status === 200) assert.deepEqual(answer, []);
    }
    assert.equal((await get(`tasks?id=eq.${ended}`, ada.headers)).status, 200);
  });
});

/** Calls a tool as a user, or as the agent of a task. */
async function execute(
  { project, stack }: McpPlatform,
  as: McpUser | AgentTask,
  tool: string,
  parameters: Readonly<Record<string, string>>,
) {
  const call = { server: tool, tool_name: tool, parameters };
  const { status, body } = await sendRequest(project, {
    endpoint: EXECUTE,
    headers: "headers" in as ? as.headers : { apikey: stack.secretKey },
    body: "headers" in as ? call : { ...call, task_id: as.taskId, agent_id: as.agentId },
  });
  const { isError = false, content } = resultSchema.parse(body);
  return {
    isError: isError || status !== 200,
    text: JSON.stringify(body),
    answer: content.map(({ text }) => text).join(),
  };
}

interface AgentTask {
  readonly taskId: string;
  readonly agentId: string;
}

async function createTask({ sql }: McpPlatform, { id }: McpUser): Promise<AgentTask> {
  const [made] = await sql`
    select task_id::text from private.create_task('registrar', '"Do it"', ${id},
      p_run_after => now() + interval '1 hour')`;
  const [row] = await sql`
    select id::text as "taskId", agent_id::text as "agentId"
    from public.tasks where id = ${z.string().parse(made?.task_id)}`;
  return z.object({ taskId: z.string(), agentId: z.string() }).parse(row);
}

async function endedTask(platform: McpPlatform, user: McpUser): Promise<string> {
  const { taskId } = await createTask(platform, user);
  await platform.sql`
    insert into public.task_steps (task_id, seq, kind, state, output, epoch, ended_at)
    values (${taskId}, 1, 'model', 'done', '{"text": "private", "tool_calls": []}', 0, now())`;
  await endTask(platform, taskId);
  return taskId;
}

async function endTask({ sql }: McpPlatform, taskId: string): Promise<void> {
  await sql`select public.cancel_task(${taskId})`;
  await sql`
    update public.tasks
    set status = 'failed', error = '{}', finished_at = now(),
      lease_expires_at = null, worker_id = null
    where id = ${taskId} and finished_at is null`;
}

/** A statement of the user that an agent requested and that waits for the user. */
async function waitingStatement({ sql }: McpPlatform, { id }: McpUser): Promise<string> {
  const [row] = await sql`
    select private.offer_sql_confirmation(jsonb_build_object(
      'token_hash', md5('token'), 'user_id', ${id}::text, 'client_id', '', 'tree_hash', '00',
      'params_hash', '00', 'statement_class', 'ddl', 'statement', 'drop table t',
      'tables', '["t"]'::jsonb, 'max_rows', 1, 'needs_approval', true)) ->> 'id' as id`;
  return z.string().parse(row?.id);
}

async function partitionsOf({ sql }: McpPlatform): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select part.relname as name
    from pg_inherits as child join pg_class as part on part.oid = child.inhrelid
    where child.inhparent in ('public.task_steps'::regclass, 'private.task_events'::regclass)`;
  assert.ok(rows.length > 4, "partitions exist");
  return rows.map(({ name }) => name);
}
