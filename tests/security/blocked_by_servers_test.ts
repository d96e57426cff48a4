import assert from "node:assert/strict";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import { callOf, noAbort, nobody, openToolFixture } from "../gateway/tools/tool_fixture.ts";
import { assertDoesNotBlock } from "./blocked_loop.ts";
import { ESCAPED_TEXTS, HOSTILE_VALUES } from "./hostile_json.ts";

Deno.test("no tool server blocks the gateway", async (t) => {
  const fixture = await openToolFixture();
  const secret = await fixture.storeSecret("sk-a-credential-of-this-test");
  let answer: (id: JsonValue) => Response = () => new Response(null, { status: 500 });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = request.method === "POST" ? await request.json() : {};
      return answer(body.id ?? null);
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const caller = nobody();
  const json = (text: string) =>
    new Response(text, { headers: { "content-type": "application/json" } });

  try {
    await t.step("answers of an HTTP API", async () => {
      const toolId = await fixture.createTool({
        type: "http_api",
        config: { method: "POST", url: `${url}/x`, parameters: { type: "object", properties: {} } },
        credential: { type: "api_key", name: secret },
      });
      const agent = await fixture.createCaller(null, [toolId]);
      answer = () => json('{"warm":1}');
      const { tools: [tool] } = await fixture.gateway.listAgentTools(agent, noAbort());
      assert.ok(tool !== undefined);
      const call = () => fixture.gateway.call(callOf(tool, agent, {}), noAbort());
      await call();
      const members = Array.from({ length: 400_000 }, (_, number) => `"k${number}":1`);
      const kinds = { ...HOSTILE_VALUES, "400,000 members": `{${members.join()}}` };
      for (const [kind, value] of Object.entries(kinds)) {
        answer = () => json(value);
        await assertDoesNotBlock(`${kind} of an HTTP API`, call);
      }
    });

    await t.step("long texts that are searched for its secret", async () => {
      const toolId = await fixture.createTool({
        type: "http_api",
        config: { method: "GET", url: `${url}/x`, parameters: { type: "object", properties: {} } },
        credential: { type: "api_key", name: secret },
      });
      const agent = await fixture.createCaller(null, [toolId]);
      const { tools: [tool] } = await fixture.gateway.listAgentTools(agent, noAbort());
      assert.ok(tool !== undefined);
      const call = () => fixture.gateway.call(callOf(tool, agent, {}), noAbort());
      for (const [kind, text] of Object.entries(ESCAPED_TEXTS)) {
        for (const status of [200, 422]) {
          answer = () => new Response(text, { status, headers: { "content-type": "text/plain" } });
          await assertDoesNotBlock(`${kind} in text with status ${status}`, call);
        }
        answer = () =>
          json(JSON.stringify({ [text.slice(0, 30_000)]: [text.slice(0, 3_900_000)] }));
        await assertDoesNotBlock(`${kind} in JSON`, call);
      }
    });

    await t.step("answers of an MCP server, complete and streamed", async () => {
      const toolId = await fixture.createTool({
        type: "mcp_server",
        config: { mcp_url: `${url}/mcp` },
        credential: { type: "api_key", name: secret },
      });
      const agent = await fixture.createCaller(null, [toolId]);
      const definition = { name: "look", inputSchema: { type: "object", properties: {} } };
      const hello = {
        tools: [definition],
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      };
      answer = (id) => json(JSON.stringify({ jsonrpc: "2.0", id, result: hello }));
      const { tools: [tool] } = await fixture.gateway.listAgentTools(agent, noAbort());
      assert.ok(tool !== undefined);
      const call = () => fixture.gateway.call(callOf(tool, agent, {}), noAbort());
      await call();

      const texts = Object.entries(ESCAPED_TEXTS).map(([kind, text]) =>
        [kind, JSON.stringify(text)] as const
      );
      for (
        const [valueAt, [kind, value]] of [...Object.entries(HOSTILE_VALUES), ...texts].entries()
      ) {
        const bodies: Readonly<Record<string, (id: JsonValue) => string>> = {
          "text": (id) =>
            `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${value}}]}}`,
          "structure": (id) =>
            `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"x":${value}}}}`,
          "error": (id) =>
            `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${value},"data":${value}}}`,
          "a message on the way": (id) =>
            `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${value}}}` +
            `\n\ndata: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`,
        };
        for (const [placeAt, [place, bodyOf]] of Object.entries(bodies).entries()) {
          // Every value comes in every place, in complete answers and in streams in turn.
          const isStream = place === "a message on the way" || (valueAt + placeAt) % 2 === 0;
          answer = (id) =>
            isStream
              ? new Response(`data: ${bodyOf(id)}\n\n`, {
                headers: { "content-type": "text/event-stream" },
              })
              : json(bodyOf(id));
          const as = isStream ? `${place} in a stream` : place;
          await assertDoesNotBlock(`${kind} as ${as}`, () => settled(call()));
        }
      }
    });

    await t.step("lists of an MCP server", async () => {
      const slugOf = async () => {
        const toolId = await fixture.createTool({
          type: "mcp_server",
          config: { mcp_url: `${url}/mcp` },
        });
        const [row] = await fixture.sql`select slug from public.tools where id = ${toolId}::uuid`;
        return String(row?.slug);
      };
      const refs = (count: number, name: string) => Array(count).fill({ $ref: `#/$defs/${name}` });
      const schemas: Readonly<Record<string, JsonObject>> = {
        "a bomb of references": {
          type: "object",
          properties: { x: { $ref: "#/$defs/a" } },
          $defs: {
            a: { anyOf: refs(20, "b") },
            b: { anyOf: refs(20, "c") },
            c: { anyOf: refs(20, "d") },
            d: { type: "string" },
          },
        },
        "a long description": {
          type: "object",
          properties: { x: { type: "string", description: "%61".repeat(1_500) } },
        },
        "one description of megabytes": {
          type: "object",
          properties: { x: { type: "string", description: "%61".repeat(1_200_000) } },
        },
        "a pattern without end": {
          type: "object",
          properties: { x: { type: "string", pattern: "^(a+)+$" } },
        },
      };
      for (const [kind, inputSchema] of Object.entries(schemas)) {
        for (const count of kind.startsWith("one ") ? [1] : [1, 30, 1_000]) {
          const slug = await slugOf();
          const tools = Array.from(
            { length: count },
            (_, number) => ({ name: `t${number}`, inputSchema }),
          );
          // Created earlier: the server of this test shares the observed thread.
          const list = JSON.stringify(tools);
          answer = (id) =>
            json(
              `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":${list},` +
                '"protocolVersion":"2025-06-18","capabilities":{"tools":{}},' +
                '"serverInfo":{"name":"x","version":"1"}}}',
            );
          await assertDoesNotBlock(
            `${count} tools with ${kind}`,
            () =>
              settled(fixture.gateway.listServerTools(slug, caller, { refresh: true }, noAbort())),
          );
        }
      }
    });
  } finally {
    await server.shutdown();
    await fixture.stop();
  }
});

/** A refusal is as good as an answer. */
async function settled(calling: Promise<unknown>): Promise<void> {
  await calling.catch((error) => assert.ok(error instanceof SwarmError, String(error)));
}
