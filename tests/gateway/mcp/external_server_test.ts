import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { addTool } from "../../e2e/operator.ts";
import { startExternalServer } from "./external_server.ts";
import { grantScopes } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { errorOf } from "./raw_message.ts";
import { connectSdkClient } from "./sdk_client.ts";

const NOTES = "/notes";

Deno.test("a registered server is passed through unchanged", async (t) => {
  await using external = await startExternalServer();
  await using platform = await sharedPlatform();
  const { sql, mcpUrl } = platform;
  await addTool(sql, { slug: "notes", type: "mcp_server", config: { mcp_url: external.url } });
  await addTool(sql, {
    slug: "dead",
    type: "mcp_server",
    config: { mcp_url: "http://127.0.0.1:9/" },
  });
  const { id, send, headers } = await platform.addUser("ada");
  await grantScopes(sql, id, ["swarm:run", "mcp:notes", "mcp:dead"]);
  const url = `${mcpUrl}${NOTES}`;

  await t.step("the server names itself, its capabilities and the gateway", async () => {
    const { last } = await send({ path: NOTES, method: "server/discover" });

    const { capabilities, instructions, _meta } = last.result ?? {};
    assert.deepEqual(Object.keys(asJsonObject(capabilities)).sort(), [
      "prompts",
      "resources",
      "tools",
    ]);
    assert.equal(instructions, "Look before you write.");
    const info = asJsonObject(asJsonObject(_meta)["io.modelcontextprotocol/serverInfo"]);
    assert.deepEqual([info.name, info.version], ["notes (Enhanced)", "3.2.1"]);
  });

  await t.step("a result keeps every block, its structure and its _meta", async () => {
    const params = { name: "picture", arguments: { of: "cat" } };
    const { last } = await send({ path: NOTES, method: "tools/call", params });

    const { content, structuredContent, isError, _meta } = last.result ?? {};
    assert.deepEqual(content, [
      { type: "text", text: "a cat" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ]);
    assert.deepEqual([structuredContent, isError], [{ of: "cat" }, undefined]);
    const meta = asJsonObject(_meta);
    assert.equal(meta["com.example/seed"], 7);
    assert.equal(meta.enhanced_by, "orchestrator");
    assert.ok(meta.feedback_token && meta.execution_id);
  });

  await t.step("a tool's own error is passed on unchanged", async () => {
    const params = { name: "fail", arguments: {} };
    const { last } = await send({ path: NOTES, method: "tools/call", params });

    const { content, isError, structuredContent } = last.result ?? {};
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /No ink left/);
    assert.equal(structuredContent, undefined);
  });

  await t.step("a question to the caller can be graded and found like a result", async () => {
    const capabilities = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const params = { name: "ask", arguments: {}, _meta: capabilities };
    const { last } = await send({ path: NOTES, method: "tools/call", params });

    assert.equal(last.result?.resultType, "input_required", JSON.stringify(last));
    const meta = asJsonObject(last.result?._meta);
    assert.equal(meta.enhanced_by, "orchestrator");
    assert.equal(typeof meta.response_time, "number");
    const [row] = await sql<{ token: string }[]>`
      select feedback_token::text as token from public.mcp_executions
      where id = ${String(meta.execution_id)}::uuid`;
    assert.equal(meta.feedback_token, row?.token);
  });

  await t.step("arguments that the server requires in headers are compared", async () => {
    const params = { name: "region", arguments: { region: "eu" } };
    const message = { path: NOTES, method: "tools/call", params };
    const missing = await send(message);
    const other = await send({ ...message, headers: { "mcp-param-region": "us" } });
    const same = await send({ ...message, headers: { "mcp-param-region": "eu" } });

    assert.deepEqual([missing.status, missing.last.error?.code], [400, -32020]);
    assert.deepEqual([other.status, other.last.error?.code], [400, -32020]);
    assert.match(JSON.stringify(same.last.result?.content), /eu/);
  });

  for (const era of ["auto", "legacy"] as const) {
    await t.step(`resources and prompts are passed through to a client of era ${era}`, async () => {
      await using connected = await connectSdkClient({ url, headers, era });
      const { client } = connected;
      const { resources } = await client.listResources();
      const { resourceTemplates } = await client.listResourceTemplates();
      const { contents: [readme] } = await client.readResource({ uri: "note://readme" });
      const { contents: [note] } = await client.readResource({ uri: "note://by-id/7" });
      const { prompts } = await client.listPrompts();
      const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Bo" } });

      assert.deepEqual(resources.map(({ uri }) => uri), ["note://readme"]);
      assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
        "note://by-id/{id}",
      ]);
      assert.deepEqual([textOf(readme), textOf(note)], ["Read me", "Note 7"]);
      assert.deepEqual(prompts.map(({ name }) => name), ["greet"]);
      assert.match(JSON.stringify(messages), /Greet Bo/);
      await assert.rejects(client.readResource({ uri: "note://none" }));
      await assert.rejects(client.getPrompt({ name: "none" }));
    });
  }

  await t.step("a dead server does not affect the list of the others", async () => {
    const { status, last } = await send({ method: "tools/list" });

    const names = JSON.stringify(last.result?.tools);
    assert.equal(status, 200);
    assert.ok(names.includes("notes__picture") && names.includes("swarm__create_task"));
    assert.ok(!names.includes("dead__"));
  });

  await t.step("the list of a single dead server explains why it is empty", async () => {
    for (const era of ["modern", "legacy"] as const) {
      const { last } = await send({ path: "/dead", method: "tools/list", era });

      assert.equal(last.error?.code, -32603);
      assert.match(last.error?.message ?? "", /'dead' is not available now/);
    }
  });

  await t.step("a call to a dead server is a result that reports the failure", async () => {
    const params = { name: "anything", arguments: {} };
    const { status, last } = await send({ path: "/dead", method: "tools/call", params });

    assert.deepEqual([status, last.result?.isError], [200, true]);
    const { code, message } = errorOf(last.result);
    assert.equal(code, "TOOL_UNAVAILABLE");
    assert.match(String(message), /dead/);
  });

  await t.step("progress is sent only to clients that request it", async () => {
    const params = { name: "wait", arguments: { seconds: 0.01 } };
    const asked = await send({
      path: NOTES,
      method: "tools/call",
      params: { ...params, _meta: { progressToken: "p1" } },
    });
    const silent = await send({ path: NOTES, method: "tools/call", params });

    const notes = asked.messages.filter(({ method }) => method === "notifications/progress");
    assert.deepEqual(notes.map(({ params }) => params), [
      { progressToken: "p1", progress: 1, total: 2, message: "waiting" },
    ]);
    assert.match(JSON.stringify(asked.last.result?.content), /waited/);
    assert.equal(silent.messages.length, 1);
  });

  for (const era of ["modern", "legacy"] as const) {
    await t.step(`a ${era} client that disconnects ends the upstream call`, async () => {
      await using slow = await startExternalServer();
      const slug = `slow-${era}`;
      await addTool(sql, { slug, type: "mcp_server", config: { mcp_url: slow.url } });
      // Deno does not notice that a client leaves during the first request of a connection.
      await platform.service({ path: `/${slug}`, method: "tools/list", era });
      const gone = new AbortController();
      const call = platform.service({
        path: `/${slug}`,
        method: "tools/call",
        era,
        params: { name: "wait", arguments: { seconds: 120 } },
        signal: gone.signal,
      });
      await waitFor(() => slow.waits.running > 0, { what: "the call upstream" });
      gone.abort();
      await assert.rejects(call);

      await waitFor(() => slow.waits.aborted > 0, { what: "the call's end" });
      const ended = await waitFor(async () => {
        const [row] = await sql<{ status: string; error_message: string }[]>`
          select status, error_message from public.mcp_executions
          where mcp_name = ${slug}`;
        return row?.status === "error" ? row : null;
      }, { what: "the ledger" });
      assert.match(ended.error_message, /abort/i);
    });
  }
});

function textOf(contents: { readonly [key: string]: unknown } | undefined): unknown {
  return (contents as JsonObject | undefined)?.text;
}
