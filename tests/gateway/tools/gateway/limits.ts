import assert from "node:assert/strict";
import { noAbort, nobody } from "../tool_fixture.ts";
import { codeOf, gatewayTest, registerServer } from "./gateway_claims.ts";

gatewayTest(
  "after a policy's burst the answer contains the time of the next attempt",
  async (fixture) => {
    const { sql } = fixture;
    await using external = await registerServer(fixture);
    await sql`
    insert into public.mcp_policies (mcp_name, tool_name, calls_per_minute, burst_calls)
    values (${external.slug}, 'search', 1, 2)`;
    const [one, other] = [await fixture.createUser(), await fixture.createUser()];
    const asUser = (userId: string) => ({ ...nobody(), userId });
    const search = (userId: string) =>
      external.call(asUser(userId), "search", { searchValue: "x" });

    await search(one);
    await search(one);
    await assert.rejects(search(one), (error: { code: string; retryAfterSeconds: number }) => {
      assert.equal(error.code, "TOOL_RATE_LIMITED");
      assert.ok(error.retryAfterSeconds > 0 && error.retryAfterSeconds <= 60);
      return true;
    });
    assert.equal(codeOf(await search(other)), undefined);
    assert.equal(codeOf(await external.call(asUser(one), "fail", { with: "x" })), undefined);

    await sql`
    update private.tool_call_allowances set refilled_at = refilled_at - interval '61 seconds'
    where user_id = ${one}`;
    assert.equal(codeOf(await search(one)), undefined);
  },
);

gatewayTest(
  "a policy limits the bytes of arguments, and a user's policy takes precedence",
  async (fixture) => {
    const { sql } = fixture;
    await using external = await registerServer(fixture);
    const [one, other] = [await fixture.createUser(), await fixture.createUser()];
    await sql`
    insert into public.mcp_policies (mcp_name, tool_name, user_id, max_input_bytes)
    values (${external.slug}, 'search', null, 40), (${external.slug}, null, ${other}, 30)`;
    const search = async (userId: string, searchValue: string) =>
      codeOf(await external.call({ ...nobody(), userId }, "search", { searchValue }));
    const frame = JSON.stringify({ searchValue: "" }).length;

    assert.equal(await search(one, "x".repeat(40 - frame)), undefined);
    assert.equal(await search(one, "x".repeat(41 - frame)), "TOOL_INPUT_TOO_LARGE");
    assert.equal(await search(one, "é".repeat(40 - frame)), "TOOL_INPUT_TOO_LARGE");
    assert.equal(await search(other, "x".repeat(30 - frame)), undefined);
    assert.equal(await search(other, "x".repeat(31 - frame)), "TOOL_INPUT_TOO_LARGE");
  },
);

gatewayTest("a tool that a policy forbids is offered to nobody", async (fixture) => {
  const { sql } = fixture;
  await using external = await registerServer(fixture);
  const { slug, toolId } = external;
  const userId = await fixture.createUser();
  const agent = await fixture.createCaller(userId, [toolId]);
  const user = { ...nobody(), userId };
  await fixture.gateway.listServerTools(slug, user, {}, noAbort());
  await sql`
    insert into public.mcp_policies (mcp_name, tool_name, is_allowed)
    values (${slug}, 'search', false)`;

  const { tools, forbidden } = await fixture.gateway.listServerTools(slug, user, {}, noAbort());
  const ofAgent = await fixture.gateway.listAgentTools(agent, noAbort());
  const summaries = await fixture.gateway.listServers(user);

  assert.deepEqual(tools.map(({ name }) => name), ["fail", "write_note"]);
  assert.deepEqual(forbidden, ["search"]);
  assert.deepEqual(ofAgent.tools.map(({ toolName }) => toolName), ["fail", "write_note"]);
  assert.equal(summaries.find((one) => one.slug === slug)?.toolCount, 2);
  const called = await external.call(user, "search", { searchValue: "x" });
  assert.equal(codeOf(called), "TOOL_FORBIDDEN");
});

gatewayTest("a server's policy applies to its resources and prompts", async (fixture) => {
  const { sql } = fixture;
  await using external = await registerServer(fixture);
  const { slug, server } = external;
  const caller = { ...nobody(), userId: await fixture.createUser() };
  const read = async () => {
    const params = { uri: "test://one" };
    const request = { server: slug, caller, method: "resources/read" as const, params };
    const error = await fixture.gateway.relay(request, noAbort()).catch((thrown) => thrown);
    return error.code;
  };
  const reads = () => server.seen.filter(({ method }) => method === "resources/read").length;

  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls)
    values (${slug}, 1, 2)`;
  const passed = [await read(), await read()];
  const readsBefore = reads();
  assert.ok(readsBefore > 0 && !passed.includes("TOOL_RATE_LIMITED"), String(passed));
  assert.equal(await read(), "TOOL_RATE_LIMITED");

  await sql`update public.mcp_policies set is_allowed = false where mcp_name = ${slug}`;
  assert.equal(await read(), "TOOL_FORBIDDEN");
  await sql`delete from public.mcp_policies where mcp_name = ${slug}`;
  await sql`delete from private.tool_call_allowances where tool_id = ${external.toolId}`;
  await sql`
    update public.agent_mcp_connections
    set retry_at = now() + interval '1 minute', failure_count = 5
    where tool_id = ${external.toolId}`;
  assert.equal(await read(), "TOOL_UNAVAILABLE");
  assert.equal(reads(), readsBefore, "nothing else was sent");
});

gatewayTest("three consecutive failures are reported until a success", async (fixture) => {
  await using external = await registerServer(fixture);
  const caller = { ...nobody(), userId: await fixture.createUser() };
  const wrong = async () => {
    const outcome = await external.call(caller, "search", { search_value: "x" });
    assert.ok(outcome.kind === "answered");
    return [outcome.errorCode, outcome.consecutiveFailures, outcome.status];
  };

  assert.deepEqual(await wrong(), ["TOOL_ARGUMENTS_INVALID", 1, 200]);
  assert.deepEqual(await wrong(), ["TOOL_ARGUMENTS_INVALID", 2, 200]);
  assert.deepEqual(await wrong(), ["EXCEEDED_RETRIES", 3, 200]);
  await external.call(caller, "search", { searchValue: "x" });
  assert.deepEqual(await wrong(), ["TOOL_ARGUMENTS_INVALID", 1, 200]);
});

gatewayTest(
  "a failed call shows arguments that worked: the caller's own, or else their shape",
  async (fixture) => {
    await using external = await registerServer(fixture);
    const [one, other] = [await fixture.createUser(), await fixture.createUser()];
    const answerTo = async (userId: string) => {
      const outcome = await external.call({ ...nobody(), userId }, "search", { unit: "people" });
      assert.ok(outcome.kind === "answered" && outcome.isError);
      assert.ok(!/have worked/.test(outcome.text), "the error's own text is separate");
      return JSON.stringify(outcome.content);
    };
    assert.doesNotMatch(await answerTo(one), /have worked/);
    const good = { searchValue: "ann@private.example", unit: "people" };
    await external.call({ ...nobody(), userId: one }, "search", good);

    assert.match(await answerTo(one), /have worked for this tool call: .*ann@private\.example/);
    assert.match(
      await answerTo(other),
      /have worked for this tool call \(their shape\): .*<email>/,
    );
  },
);

gatewayTest("a tool is found by its names, and learned under its own", async (fixture) => {
  const { sql } = fixture;
  await using external = await registerServer(fixture);
  const caller = { ...nobody(), userId: await fixture.createUser() };
  await external.call(caller, "search", { searchValue: "x" });
  await sql`
    update public.mcp_tools_cache set tool_version = '2'
    where tool_name = 'search' and connection_id in (
      select id from public.agent_mcp_connections where tool_id = ${external.toolId})`;

  for (const name of ["search@2", "search_v2"]) {
    const outcome = await external.call(caller, name, { searchValue: name });
    const [row] = await sql`
      select tool_name, tool_version from public.mcp_executions where id = ${outcome.executionId}`;
    assert.equal(codeOf(outcome), undefined);
    assert.deepEqual({ ...row }, { tool_name: "search", tool_version: "2" });
  }
  assert.equal(codeOf(await external.call(caller, "search@1", {})), "TOOL_NOT_FOUND");
});
