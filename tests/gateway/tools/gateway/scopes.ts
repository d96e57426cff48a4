import assert from "node:assert/strict";
import { noAbort, nobody, userCaller } from "../tool_fixture.ts";
import { codeOf, gatewayTest, registerServer } from "./gateway_claims.ts";

gatewayTest("an external server needs its scope, which nobody has by default", async (fixture) => {
  const { sql, gateway } = fixture;
  await using external = await registerServer(fixture);
  const { slug, server } = external;
  const userId = await fixture.createUser();
  const user = userCaller(userId);

  const refused = await external.call(user, "search", { searchValue: "x" });
  assert.ok(refused.kind === "answered");
  assert.equal(refused.errorCode, "INSUFFICIENT_SCOPE");
  assert.equal(refused.status, 403);
  assert.equal(refused.errorClass, "auth");
  assert.deepEqual(refused.details, { missing_scopes: [`mcp:${slug}`] });
  assert.equal(server.seen.length, 0);
  assert.ok(!(await gateway.listServers(user)).some((one) => one.slug === slug));
  await assert.rejects(gateway.listServerTools(slug, user, {}, noAbort()), {
    code: "INSUFFICIENT_SCOPE",
  });

  await sql`
    insert into public.mcp_grants (user_id, scopes) values (${userId}, array[${`mcp:${slug}`}])`;
  const allowed = await external.call(user, "search", { searchValue: "x" });
  assert.ok(allowed.kind === "answered" && !allowed.isError, JSON.stringify(allowed));
  assert.ok((await gateway.listServers(user)).some((one) => one.slug === slug));
});

gatewayTest("the row of a client takes precedence over the user's own", async (fixture) => {
  const { sql } = fixture;
  await using external = await registerServer(fixture);
  const userId = await fixture.createUser();
  await sql`
    insert into public.mcp_grants (user_id, scopes)
    values (${userId}, array[${`mcp:${external.slug}`}])`;
  await sql`
    insert into public.mcp_grants (user_id, client_id, scopes)
    values (${userId}, 'narrow', '{sql:read}')`;

  const user = userCaller(userId);
  const any = await external.call({ ...user, clientId: "other" }, "search", { searchValue: "x" });
  const one = await external.call({ ...user, clientId: "narrow" }, "search", {
    searchValue: "x",
  });

  assert.equal(codeOf(any), undefined);
  assert.equal(codeOf(one), "INSUFFICIENT_SCOPE");
});

gatewayTest(
  "inside a task both the owner's scopes and the agent's row must allow a call",
  async (fixture) => {
    const { sql } = fixture;
    await using external = await registerServer(fixture);
    const userId = await fixture.createUser();
    const agent = await fixture.createCaller(null, [external.toolId]);
    const without = await fixture.createCaller(null, []);
    const [task] = await sql<{ task_id: string }[]>`
    select task_id from private.create_task(
      (select slug from public.agents where id = ${agent.agentId}), '{}', ${userId})`;
    // The owner of the task acts, whatever user the request names.
    const caller = {
      ...agent,
      taskId: task?.task_id ?? null,
      userId: await fixture.createUser(),
    };

    const unscoped = await external.call(caller, "search", { searchValue: "x" });
    assert.equal(codeOf(unscoped), "INSUFFICIENT_SCOPE");
    assert.equal(external.server.seen.length, 0);

    await sql`select public.grant_scopes(${userId}, array[${`mcp:${external.slug}`}])`;
    const ungiven = await external.call({ ...caller, agentId: without.agentId }, "search", {
      searchValue: "x",
    });
    assert.equal(codeOf(ungiven), "TOOL_FORBIDDEN");
    const outcome = await external.call(caller, "search", { searchValue: "x" });

    assert.equal(codeOf(outcome), undefined);
    const [row] = await sql`
    select user_id from public.mcp_executions where id = ${outcome.executionId}`;
    assert.equal(row?.user_id, userId);
  },
);

gatewayTest("a call for a missing task is refused", async (fixture) => {
  await using external = await registerServer(fixture);
  const caller = { ...nobody(), taskId: crypto.randomUUID() };

  await assert.rejects(external.call(caller, "search", {}), { code: "TASK_NOT_FOUND" });
});

gatewayTest("a session is created on first use and belongs to its user", async (fixture) => {
  const { sql } = fixture;
  await using external = await registerServer(fixture);
  const sessionId = crypto.randomUUID();
  const [one, other] = [await fixture.createUser(), await fixture.createUser()];
  const caller = { ...nobody(), userId: one, sessionId, clientName: "editor" };

  const outcome = await external.call(caller, "search", { searchValue: "x" });
  await external.call(caller, "search", { searchValue: "y" });
  await assert.rejects(external.call({ ...caller, userId: other }, "search", {}), {
    code: "FORBIDDEN",
  });

  const [row] = await sql`
    select session.user_id, session.client_name, count(*)::int as calls
    from public.sessions session
    join public.mcp_executions execution on execution.session_id = session.id
    where session.id = ${sessionId} group by session.id`;
  assert.equal(outcome.kind, "answered");
  assert.deepEqual({ ...row }, { user_id: one, client_name: "editor", calls: 2 });
});

gatewayTest(
  "admin:* includes every scope, even of external servers, and is not a default",
  async (fixture) => {
    const { sql } = fixture;
    await using external = await registerServer(fixture);
    const [admin, other] = [await fixture.createUser(), await fixture.createUser()];
    await sql`insert into public.mcp_grants (user_id, scopes) values (${admin}, '{admin:*}')`;
    const search = async (userId: string) =>
      codeOf(
        await external.call({ ...nobody(), userId, isService: false }, "search", {
          searchValue: "x",
        }),
      );

    assert.equal(await search(admin), undefined);
    assert.equal(await search(other), "INSUFFICIENT_SCOPE");
    const [row] = await sql`
    select 'admin:*' = any (scopes) as is_default from public.mcp_grants where user_id is null`;
    assert.equal(row?.is_default, false);
  },
);
