import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import { brokenAnswer, type SeenHttpRequest, startHttpServer } from "./http_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { callOf, noAbort, SECRET_KEY, type ToolFixture } from "./tool_fixture.ts";

const CANARY = "http-c4n4ry-key";

Deno.test("tools of the other types work through the gateway", async (t) => {
  const project = startHttpServer((request) => answerAsProject(request));
  const fixture = await openFixtureOnSharedDatabase({ supabaseUrl: project.url });
  try {
    await httpApis(t, fixture);
    await databaseFunctions(t, fixture);
    await edgeFunctions(t, fixture, project.seen);
    await artifacts(t, fixture);
  } finally {
    await fixture.stop();
    await project.stop();
  }
});

/** The project's own edge functions and Storage. */
function answerAsProject({ url, body }: SeenHttpRequest): Response {
  switch (url.pathname) {
    case "/functions/v1/summarise":
      return Response.json({ summary: JSON.parse(body).text.slice(0, 3) });
    case "/functions/v1/refuse":
      return Response.json({ error: { code: "NO_CREDIT" } }, { status: 402 });
    case "/functions/v1/break":
      return brokenAnswer();
    case "/storage/v1/object/supaswarm-data/a/report%20one.md":
      return new Response("# Report");
    default:
      return new Response("not found", { status: 404 });
  }
}

async function run(
  { gateway, ...fixture }: ToolFixture,
  caller: ToolCaller,
  toolName: string | undefined,
  args: JsonObject,
) {
  const { tools, unavailable } = await gateway.listAgentTools(caller, noAbort());
  const tool = tools.find((found) => toolName === undefined || found.toolName === toolName);
  assert.ok(tool, JSON.stringify(unavailable));
  const outcome = await gateway.call(callOf(tool, caller, args), noAbort());
  const [row] = await fixture.sql`
    select execution.*, failure.error_code
    from public.mcp_executions execution
    left join public.mcp_failures failure on failure.execution_id = execution.id
    where execution.id = ${outcome.executionId}`;
  assert.ok(row, "every call is in the ledger");
  return { outcome, row };
}

async function slugOf({ sql }: ToolFixture, toolId: string): Promise<string | undefined> {
  const [tool] = await sql<{ slug: string }[]>`
    select slug from public.tools where id = ${toolId}::uuid`;
  return tool?.slug;
}

async function httpApis(t: Deno.TestContext, fixture: ToolFixture): Promise<void> {
  const userId = await fixture.createUser();
  const parameters = {
    type: "object",
    properties: { id: { type: "string" }, note: { type: "string" }, count: { type: "integer" } },
    required: ["id"],
    additionalProperties: false,
  };

  async function setUp(
    answer: (request: SeenHttpRequest) => Response,
    config: JsonObject,
    type = "api_key",
  ) {
    const server = startHttpServer(answer);
    const name = await fixture.storeSecret(CANARY);
    const toolId = await fixture.createTool({
      type: "http_api",
      config: { parameters, ...config, url: `${server.url}${config.url}` },
      credential: { type, name },
    });
    return { server, name, caller: await fixture.createCaller(userId, [toolId]) };
  }

  await t.step("an HTTP API gets its arguments in URL, query, headers and body", async () => {
    const { server, caller } = await setUp(() => Response.json({ ok: true }), {
      method: "POST",
      url: "/items/{id}",
      query: { n: "{count}", missing: "{note}" },
      headers: { "x-id": "id {id}" },
      body: { item: { id: "{id}", count: "{count}" }, note: "{note}" },
    });
    try {
      const { outcome, row } = await run(fixture, caller, undefined, { id: "a/b ?c", count: 3 });

      assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
      assert.deepEqual(outcome.structured, { ok: true });
      const [seen] = server.seen;
      assert.equal(`${seen?.url.pathname}${seen?.url.search}`, "/items/a%2Fb%20%3Fc?n=3");
      assert.equal(seen?.headers.get("x-id"), "id a/b ?c");
      assert.equal(seen?.headers.get("x-api-key"), CANARY);
      assert.deepEqual(JSON.parse(seen?.body ?? ""), { item: { id: "a/b ?c", count: 3 } });
      assert.equal(row.mcp_name, await slugOf(fixture, row.tool_id));
    } finally {
      await server.stop();
    }
  });

  await t.step("an argument cannot leave its position in the path", async () => {
    const { server, caller } = await setUp(() => Response.json({}), {
      method: "GET",
      url: "/items/{id}/x",
    });
    try {
      for (const id of ["..", ".", ""]) {
        const { row } = await run(fixture, caller, undefined, { id });

        assert.equal(row.error_code, "TOOL_ARGUMENTS_INVALID");
      }
      assert.equal(server.seen.length, 0);
    } finally {
      await server.stop();
    }
  });

  await t.step("an API that echoes its credential does not reveal it to the model", async () => {
    const { server, caller } = await setUp(
      ({ headers }) => Response.json({ you: headers.get("authorization"), enc: btoa(CANARY) }),
      { method: "GET", url: "/items/{id}" },
      "bearer_token",
    );
    try {
      const { outcome, row } = await run(fixture, caller, undefined, { id: "1" });

      const shown = JSON.stringify([outcome, row]);
      assert.match(shown, /Bearer \[redacted\]/);
      assert.ok(!shown.includes(CANARY) && !shown.includes(btoa(CANARY).slice(2, 14)), shown);
    } finally {
      await server.stop();
    }
  });

  await t.step("a refused credential names the secret", async () => {
    const { server, caller, name } = await setUp(() => new Response("no", { status: 403 }), {
      method: "GET",
      url: "/items/{id}",
    });
    try {
      const { outcome } = await run(fixture, caller, undefined, { id: "1" });

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_AUTH_FAILED");
      assert.ok(outcome.text.includes(name));
    } finally {
      await server.stop();
    }
  });

  await t.step("the API's own refusal is an error that the model can act on", async () => {
    const { server, caller } = await setUp(
      () => Response.json({ message: "no such item" }, { status: 404 }),
      { method: "GET", url: "/items/{id}" },
    );
    try {
      const { outcome } = await run(fixture, caller, undefined, { id: "1" });

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_FAILED");
      assert.match(outcome.text, /HTTP 404 .*no such item/);
    } finally {
      await server.stop();
    }
  });

  await t.step("a lost answer is unknown for a POST and repeatable for a GET", async () => {
    const post = await setUp(() => brokenAnswer(), { method: "POST", url: "/items/{id}" });
    const get = await setUp(() => brokenAnswer(), { method: "GET", url: "/items/{id}" });
    try {
      const written = await run(fixture, post.caller, undefined, { id: "1" });
      const read = await run(fixture, get.caller, undefined, { id: "1" });

      assert.equal(written.outcome.kind, "unknown");
      assert.ok(read.outcome.kind === "answered" && read.outcome.errorCode === "TOOL_UNAVAILABLE");
    } finally {
      await post.server.stop();
      await get.server.stop();
    }
  });

  await t.step("a redirect to a metadata address is not followed", async () => {
    const { server, caller } = await setUp(
      () => Response.redirect("http://169.254.169.254/latest/meta-data"),
      { method: "GET", url: "/items/{id}" },
    );
    try {
      const { outcome } = await run(fixture, caller, undefined, { id: "1" });

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_ADDRESS_FORBIDDEN");
    } finally {
      await server.stop();
    }
  });

  await t.step("an argument can choose only hosts that the operator lists", async () => {
    const parameters = { type: "object", properties: { host: { type: "string" } } };
    const open = { method: "GET", url: "http://127.0.0.1{host}/x", parameters };
    await assert.rejects(
      fixture.createTool({ type: "http_api", config: open }),
      /config\.url has a placeholder in its host/,
    );

    const server = startHttpServer(() => Response.json({}));
    try {
      const { host, port } = new URL(server.url);
      const listed = await fixture.createTool({
        type: "http_api",
        config: {
          method: "GET",
          url: `http://{host}:${port}/x`,
          parameters,
          allowed_hosts: [host],
        },
      });
      const caller = await fixture.createCaller(userId, [listed]);

      const allowed = await run(fixture, caller, undefined, { host: "127.0.0.1" });
      const refused = await run(fixture, caller, undefined, { host: "localhost" });

      assert.equal(allowed.row.error_code, null);
      assert.equal(refused.row.error_code, "TOOL_ADDRESS_FORBIDDEN");
      assert.equal(server.seen.length, 1);
    } finally {
      await server.stop();
    }
  });

  await t.step("a redirect to another host is not followed", async () => {
    const other = startHttpServer(() => Response.json({}));
    const { server, caller } = await setUp(
      () => Response.redirect(`http://localhost:${new URL(other.url).port}/collect?data=x`),
      { method: "GET", url: "/items/{id}" },
    );
    try {
      const { outcome } = await run(fixture, caller, undefined, { id: "1" });

      assert.ok(outcome.kind === "answered" && outcome.isError, JSON.stringify(outcome));
      assert.equal(other.seen.length, 0);
    } finally {
      await server.stop();
      await other.stop();
    }
  });

  await t.step("an invalid config is refused when it is written", async () => {
    const config = { method: "GET", url: "ftp://x", parameters: {} };

    await assert.rejects(
      fixture.createTool({ type: "http_api", config }),
      (error: Error & { detail?: string }) =>
        error.detail === "TOOL_CONFIG_INVALID" && /config\.url is "ftp:\/\/x"/.test(error.message),
    );
  });
}

async function databaseFunctions(t: Deno.TestContext, fixture: ToolFixture): Promise<void> {
  const { sql } = fixture;
  const [userId, strangerId] = [await fixture.createUser(), await fixture.createUser()];
  await sql.unsafe(`
    create table public.fixture_notes (
      id int generated always as identity primary key,
      owner uuid not null default auth.uid(),
      body text not null
    );
    alter table public.fixture_notes enable row level security;
    create policy own on public.fixture_notes to authenticated using (owner = auth.uid());
    grant select, insert on public.fixture_notes to authenticated;
    create type public.fixture_mood as enum ('glad', 'sad');
    create function public.fixture_add(p_body text, p_mood public.fixture_mood default 'glad',
      p_tags text[] default '{}') returns jsonb language sql as $$
      insert into public.fixture_notes (body) values (p_body)
      returning jsonb_build_object('body', body, 'mood', p_mood, 'tags', p_tags, 'role', current_user)
    $$;
    create function public.fixture_list() returns setof public.fixture_notes language sql stable as $$
      select * from public.fixture_notes
    $$;
    create function public.fixture_lie() returns void language sql stable as $$
      insert into public.fixture_notes (body) values ('sneaked in')
    $$;
    create function public.fixture_secret() returns int language sql as 'select 1';
    revoke execute on function public.fixture_secret() from public, authenticated;
    create function public.fixture_break() returns int language plpgsql as $$
      begin raise exception 'boom' using hint = 'do not'; end
    $$;
    grant execute on function public.fixture_add, public.fixture_list, public.fixture_lie,
      public.fixture_break to authenticated;
  `);

  async function callerOf(name: string, user: string | null = userId) {
    const toolId = await fixture.createTool({ type: "supabase_rpc", config: { function: name } });
    return await fixture.createCaller(user, [toolId]);
  }

  await t.step(
    "a database function runs as the task's owner under row level security",
    async () => {
      const added = await run(fixture, await callerOf("public.fixture_add"), undefined, {
        p_body: "mine",
        p_mood: "sad",
        p_tags: ["a", "b"],
      });
      const own = await run(fixture, await callerOf("public.fixture_list"), undefined, {});
      const other = await run(
        fixture,
        await callerOf("public.fixture_list", strangerId),
        undefined,
        {},
      );

      assert.ok(added.outcome.kind === "answered" && !added.outcome.isError, String(added.row));
      assert.deepEqual(added.outcome.structured, {
        body: "mine",
        mood: "sad",
        tags: ["a", "b"],
        role: "authenticated",
      });
      assert.ok(own.outcome.kind === "answered" && own.outcome.text.includes("mine"));
      assert.equal(
        Array.isArray(JSON.parse(own.outcome.text)),
        true,
        "a set with one row is a list",
      );
      assert.ok(other.outcome.kind === "answered" && !other.outcome.text.includes("mine"));
      assert.equal(added.row.mcp_name, await slugOf(fixture, added.row.tool_id));
    },
  );

  await t.step("without a user a database function answers CALLER_REQUIRED", async () => {
    const caller = await callerOf("public.fixture_list", null);

    const { outcome } = await run(fixture, caller, undefined, {});

    assert.ok(outcome.kind === "answered" && outcome.errorCode === "CALLER_REQUIRED");
  });

  await t.step("a function that the caller may not execute is refused", async () => {
    const { outcome } = await run(fixture, await callerOf("public.fixture_secret"), undefined, {});

    assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_FORBIDDEN");
  });

  await t.step("a function's error is its answer, with code and hint", async () => {
    const { outcome } = await run(fixture, await callerOf("public.fixture_break"), undefined, {});

    assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_FAILED");
    assert.match(outcome.text, /boom \(SQLSTATE P0001\)\ndo not/);
  });

  await t.step("a function declared as read-only cannot write", async () => {
    const { outcome } = await run(fixture, await callerOf("public.fixture_lie"), undefined, {});

    assert.ok(outcome.kind === "answered" && outcome.isError);
    assert.match(outcome.text, /read-only transaction|non-volatile/);
  });

  await t.step("arguments that do not match the function's types are refused", async () => {
    const caller = await callerOf("public.fixture_add");

    const { outcome } = await run(fixture, caller, undefined, { p_body: "x", p_mood: "angry" });

    assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_ARGUMENTS_INVALID");
    assert.match(outcome.text, /\$\.p_mood/);
  });

  await t.step("a number that programs would round is exact in text and structure", async () => {
    await sql`
      create function public.fixture_id() returns jsonb language sql as
      'select ''{"id": 1610521604143693812}''::jsonb'`;
    const { outcome } = await run(fixture, await callerOf("public.fixture_id"), undefined, {});

    assert.ok(outcome.kind === "answered");
    assert.equal(outcome.text, '{"id": 1610521604143693812}');
    assert.deepEqual(outcome.structured, { id: "1610521604143693812" });
  });

  await t.step("a function that was dropped is reported", async () => {
    await sql`create function public.fixture_nothing() returns int language sql as 'select 1'`;
    const caller = await callerOf("public.fixture_nothing");
    await sql`drop function public.fixture_nothing()`;

    const { unavailable } = await fixture.gateway.listAgentTools(caller, noAbort());

    assert.equal(unavailable[0]?.code, "TOOL_CONFIG_INVALID");
    assert.match(unavailable[0]?.message ?? "", /fixture_nothing.*does not exist/);
  });
}

async function edgeFunctions(
  t: Deno.TestContext,
  fixture: ToolFixture,
  seen: readonly SeenHttpRequest[],
): Promise<void> {
  const userId = await fixture.createUser();

  async function callerOf(name: string) {
    const toolId = await fixture.createTool({
      type: "supabase_rpc",
      config: { edge_function: name },
    });
    return await fixture.createCaller(userId, [toolId]);
  }

  await t.step("an edge function gets a token of this call, but no key", async () => {
    const caller = await callerOf("summarise");

    const { outcome } = await run(fixture, caller, undefined, { text: "summer" });

    assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
    assert.deepEqual(outcome.structured, { summary: "sum" });
    const request = seen.at(-1);
    assert.doesNotMatch(JSON.stringify([...request?.headers ?? []]), new RegExp(SECRET_KEY));
    const token = request?.headers.get("x-supaswarm-token") ?? "";
    const [row] = await fixture.sql`select public.verify_tool_token(${token}) as call`;
    assert.equal(row?.call.user_id, userId);
    assert.equal(row?.call.agent_id, caller.agentId);
    assert.equal(row?.call.execution_id, outcome.executionId);
    assert.equal(request?.headers.get("x-supaswarm-user-id"), userId);
    assert.equal(request?.headers.get("x-supaswarm-agent-id"), caller.agentId);
  });

  await t.step("an edge function's refusal is an answer", async () => {
    const { outcome } = await run(fixture, await callerOf("refuse"), undefined, {});

    assert.ok(outcome.kind === "answered" && outcome.isError);
    assert.match(outcome.text, /HTTP 402 .*NO_CREDIT/);
  });

  await t.step("an edge function that breaks off leaves its outcome unknown", async () => {
    const { outcome } = await run(fixture, await callerOf("break"), undefined, {});

    assert.equal(outcome.kind, "unknown");
  });
}

async function artifacts(t: Deno.TestContext, fixture: ToolFixture): Promise<void> {
  const { sql } = fixture;
  const userId = await fixture.createUser();
  const toolId = await fixture.createTool({ type: "internal", config: { server: "artifacts" } });
  const agent = await fixture.createCaller(userId, [toolId]);

  async function createTask(): Promise<string> {
    const [row] = await sql<{ task_id: string }[]>`
      select task_id from private.create_task(
        p_agent => ${agent.agentId}, p_input => ${sql.json({})}, p_created_by => ${userId})`;
    assert.ok(row);
    return row.task_id;
  }

  await t.step("the artifacts server shows only what the caller's own job has stored", async () => {
    const [own, other] = [await createTask(), await createTask()];
    await sql`
      update public.tasks set intermediate_data = '{"plan": {"steps": 3}}',
        storage_paths = array['a/report one.md'] where id = ${own}`;
    await sql`update public.tasks set intermediate_data = '{"hidden": 1}' where id = ${other}`;
    const caller = { ...agent, taskId: own };

    const listed = await run(fixture, caller, "list_artifacts", {});
    const data = await run(fixture, caller, "read_data", { task_id: own, key: "plan" });
    const foreign = await run(fixture, caller, "read_data", { task_id: other, key: "hidden" });
    const file = await run(fixture, caller, "read_file", { path: "a/report one.md" });
    const foreignFile = await run(fixture, caller, "read_file", { path: "b/secret.md" });

    assert.ok(listed.outcome.kind === "answered");
    assert.match(listed.outcome.text, /"plan"/);
    assert.ok(!listed.outcome.text.includes("hidden"));
    assert.ok(data.outcome.kind === "answered");
    assert.deepEqual(data.outcome.structured, { value: { steps: 3 } });
    assert.ok(foreign.outcome.kind === "answered" && foreign.outcome.isError);
    assert.ok(file.outcome.kind === "answered" && file.outcome.text === "# Report");
    assert.ok(foreignFile.outcome.kind === "answered" && foreignFile.outcome.isError);
    assert.equal(file.row.task_id, own);
  });

  await t.step("a missing internal server is reported", async () => {
    const unknown = await fixture.createTool({ type: "internal", config: { server: "nothing" } });
    const caller = await fixture.createCaller(userId, [unknown]);

    const { unavailable } = await fixture.gateway.listAgentTools(caller, noAbort());

    assert.match(unavailable[0]?.message ?? "", /internal server 'nothing' not found/);
  });
}
