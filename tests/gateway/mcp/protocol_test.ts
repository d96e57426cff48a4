import assert from "node:assert/strict";
import { asJsonObject, type JsonObject } from "../../../shared/platform/values/json.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { errorOf, MODERN, type RawAnswer } from "./raw_message.ts";
import { connectSdkClient } from "./sdk_client.ts";

const SWARM = "/swarm";
const NO_ARGUMENTS = { name: "list_agents", arguments: {} };

Deno.test("the MCP endpoint follows the protocol", async (t) => {
  await using platform = await sharedPlatform();
  const { mcpUrl, stack } = platform;
  const { send, headers } = await platform.addUser("ada");

  await t.step("a client of the stateless protocol needs one request per action", async () => {
    const discovered = await send({ path: SWARM, method: "server/discover" });
    const listed = await send({ path: SWARM, method: "tools/list" });
    const called = await send({ path: SWARM, method: "tools/call", params: NO_ARGUMENTS });

    assert.deepEqual(discovered.last.result?.supportedVersions, [MODERN]);
    assert.match(String(discovered.last.result?.instructions), /list_agents/);
    const { ttlMs, cacheScope } = listed.last.result ?? {};
    assert.deepEqual([ttlMs, cacheScope], [60_000, "private"]);
    const names = toolNames(listed);
    assert.ok(names.includes("create_task") && names.includes("get_task"));
    assert.deepEqual(names, [...names].sort());
    assert.ok(Array.isArray(asJsonObject(called.last.result?.structuredContent).agents));
    assert.equal(called.headers.get("mcp-session-id"), null);
  });

  await t.step("a client of the earlier protocol does a handshake without a session", async () => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "old", version: "1" },
    };
    const greeted = await send({ path: SWARM, era: "legacy", method: "initialize", params });
    const called = await send({
      path: SWARM,
      era: "legacy",
      method: "tools/call",
      params: NO_ARGUMENTS,
    });

    assert.equal(greeted.last.result?.protocolVersion, "2025-06-18");
    assert.equal(asJsonObject(greeted.last.result?.serverInfo).name, "Swarm");
    assert.equal(greeted.headers.get("mcp-session-id"), null);
    assert.ok(asJsonObject(called.last.result?._meta).feedback_token);
  });

  for (const era of ["auto", "legacy"] as const) {
    await t.step(`the official SDK's client works with era ${era}`, async () => {
      await using connected = await connectSdkClient({ url: `${mcpUrl}${SWARM}`, headers, era });
      const { tools } = await connected.client.listTools();
      const result = await connected.client.callTool(NO_ARGUMENTS);

      assert.equal(connected.client.getProtocolEra(), era === "auto" ? "modern" : "legacy");
      assert.ok(tools.some(({ name }) => name === "create_task"));
      assert.ok(Array.isArray(asJsonObject(result.structuredContent as JsonObject).agents));
    });
  }

  await t.step("every result can be graded and found later", async () => {
    const { last } = await send({ path: SWARM, method: "tools/call", params: NO_ARGUMENTS });

    const meta = asJsonObject(last.result?._meta);
    assert.equal(meta.feedback_token, meta["dev.supaswarm/feedback_token"]);
    assert.equal(meta["dev.supaswarm/tool_version"], "1");
    const [row] = await platform.sql`
      select mcp_name, tool_name, feedback_token::text as token
      from public.mcp_executions where id = ${String(meta.execution_id)}::uuid`;
    assert.deepEqual({ ...row }, {
      mcp_name: "swarm",
      tool_name: "list_agents",
      token: meta.feedback_token,
    });
  });

  await t.step("one address serves all servers, with prefixed tool names", async () => {
    const names = toolNames(await send({ method: "tools/list" }));
    const called = await send({
      method: "tools/call",
      params: { name: "swarm__list_agents", arguments: {} },
    });

    assert.ok(names.includes("swarm__create_task"));
    assert.deepEqual(names, [...names].sort());
    assert.ok(called.last.result?.structuredContent);
  });

  await t.step("a tool can be called by its catalog key as well", async () => {
    for (const name of ["list_agents@1", "list_agents_v1"]) {
      const { last } = await send({
        path: SWARM,
        method: "tools/call",
        params: { name, arguments: {} },
      });

      assert.ok(last.result?.structuredContent, name);
    }
  });

  await t.step("an unknown tool is a protocol error that names the nearest one", async () => {
    const cases = [
      { path: SWARM, name: "list_agent", nearest: "list_agents" },
      { path: SWARM, name: "list_agents@2", nearest: "list_agents" },
      { path: "", name: "swarm__creat_task", nearest: "swarm__create_task" },
    ];
    for (const { path, name, nearest } of cases) {
      const params = { name, arguments: {} };
      const { last } = await send({ path, method: "tools/call", params });

      assert.equal(last.error?.code, -32602, name);
      assert.ok(last.error?.message.includes(nearest), name);
    }
  });

  await t.step("an impossible tool name is refused immediately", async () => {
    const names = ["a__".repeat(8_000) + "b", "a__".repeat(20) + "b", "x".repeat(2_000)];
    for (const path of ["", SWARM]) {
      for (const name of names) {
        const params = { name, arguments: {} };
        const { last } = await send({ path, method: "tools/call", params });

        assert.equal(last.error?.code, -32602, name.slice(0, 100));
        assert.ok((last.error?.message.length ?? 0) < 2_000);
      }
    }
  });

  await t.step("invalid arguments are a result that a model can act on", async () => {
    const params = { name: "get_task", arguments: { task_id: "none" } };
    const { last } = await send({ path: SWARM, method: "tools/call", params });

    assert.equal(last.result?.isError, true);
    const { code, message } = errorOf(last.result);
    assert.equal(code, "TOOL_ARGUMENTS_INVALID");
    assert.match(String(message), /task_id/);
    assert.ok(asJsonObject(last.result?._meta).execution_id);
  });

  await t.step("headers that contradict the body are refused", async () => {
    const cases: readonly (readonly [Readonly<Record<string, string | null>>, number])[] = [
      [{ "mcp-name": "create_task" }, -32020],
      [{ "mcp-name": null }, -32020],
      [{ "mcp-method": "tools/list" }, -32020],
      [{ "mcp-method": null }, -32020],
      [{ "mcp-protocol-version": "2025-06-18" }, -32020],
      [{ "mcp-protocol-version": null }, -32020],
    ];
    for (const [headers, code] of cases) {
      const answer = await send({
        path: SWARM,
        method: "tools/call",
        params: NO_ARGUMENTS,
        headers,
      });

      assert.deepEqual(
        [answer.status, answer.last.error?.code],
        [400, code],
        JSON.stringify(headers),
      );
    }
  });

  await t.step("an unsupported version is refused with the supported ones", async () => {
    const version = "2099-01-01";
    const answer = await send({
      path: SWARM,
      method: "tools/list",
      headers: { "mcp-protocol-version": version },
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });

    assert.deepEqual([answer.status, answer.last.error?.code], [400, -32022]);
    assert.match(JSON.stringify(answer.last.error), new RegExp(MODERN));
  });

  await t.step("an unknown method is 404, another content type 415, invalid JSON 400", async () => {
    const unknown = await send({ path: SWARM, method: "tools/dance" });
    const typed = await send({
      path: SWARM,
      method: "tools/list",
      headers: { "content-type": "text/plain" },
    });
    const broken = await fetch(`${mcpUrl}${SWARM}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "*/*" },
      body: "{",
    });
    const { status } = broken;
    await broken.body?.cancel();

    assert.deepEqual([unknown.status, unknown.last.error?.code], [404, -32601]);
    assert.equal(typed.status, 415);
    assert.ok(status === 400 || status === 406, String(status));
  });

  await t.step("a missing page of the list is refused", async () => {
    const { last } = await send({
      path: SWARM,
      method: "tools/list",
      params: { cursor: "second" },
    });

    assert.equal(last.error?.code, -32602);
  });

  await t.step("no stream or session can be opened or ended", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await fetch(`${mcpUrl}${SWARM}`, { method, headers });
      await answer.body?.cancel();

      assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST"], method);
    }
  });

  await t.step("a query is refused, since a misspelled limit would have no effect", async () => {
    const answer = await send({ path: `${SWARM}?read_only=true`, method: "tools/list" });

    assert.equal(answer.status, 400);
    assert.equal(answer.last.error?.code, "QUERY_INVALID");
  });

  await t.step("an unknown server is 404 with the nearest name", async () => {
    for (const method of ["tools/list", "server/discover"]) {
      const answer = await send({ path: "/swrm", method });

      assert.deepEqual([answer.status, answer.last.error?.code], [404, "TOOL_NOT_FOUND"]);
      assert.match(JSON.stringify(answer.last.error), /swarm/);
    }
    assert.equal((await send({ path: "/swarm/more", method: "tools/list" })).status, 404);
  });

  await t.step("pages of foreign origins and foreign hosts cannot call", async () => {
    const cases: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
      [{ origin: "https://evil.example" }, 403],
      [{ origin: "null" }, 403],
      [{ origin: `${stack.apiUrl}.evil.example` }, 403],
      [{ "x-forwarded-host": "evil.example" }, 403],
      [{ origin: stack.apiUrl }, 200],
      [{ origin: "http://localhost:5173" }, 200],
    ];
    for (const [headers, status] of cases) {
      const answer = await send({ path: SWARM, method: "tools/list", headers });

      assert.equal(answer.status, status, JSON.stringify(headers));
    }
  });

  await t.step("a browser's preflight request allows the protocol's headers", async () => {
    const answer = await fetch(`${mcpUrl}${SWARM}`, {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:5173",
        "access-control-request-method": "POST",
        "access-control-request-headers": "mcp-method,mcp-param-region,mcp-protocol-version",
      },
    });

    const allowed = answer.headers.get("access-control-allow-headers") ?? "";
    for (
      const name of [
        "authorization",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
        "mcp-session-id",
        "last-event-id",
      ]
    ) {
      assert.ok(allowed.includes(name), name);
    }
    const exposed = answer.headers.get("access-control-expose-headers") ?? "";
    for (const name of ["www-authenticate", "mcp-session-id", "x-request-id"]) {
      assert.ok(exposed.includes(name), name);
    }
  });
});

function toolNames({ last }: RawAnswer): string[] {
  const { tools } = last.result ?? {};
  return Array.isArray(tools) ? tools.map((tool: JsonObject) => String(tool.name)) : [];
}
