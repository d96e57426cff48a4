import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { callOf, noAbort, nobody, openToolFixture } from "../tools/tool_fixture.ts";
import { assertDoesNotBlock } from "./blocked_loop.ts";
import { HOSTILE_VALUES } from "./hostile_json.ts";

Deno.test("no tool server stops the gateway", async (t) => {
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
        "a pattern without end": {
          type: "object",
          properties: { x: { type: "string", pattern: "^(a+)+$" } },
        },
      };
      const text = (id: JsonValue, result: JsonValue) =>
        JSON.stringify({ jsonrpc: "2.0", id, result });
      for (const [kind, inputSchema] of Object.entries(schemas)) {
        for (const count of [1, 100]) {
          const tools = Array.from(
            { length: count },
            (_, number) => ({ name: `t${number}`, inputSchema }),
          );
          const slug = await slugOf();
          answer = (id) =>
            json(
              text(id, {
                tools,
                protocolVersion: "2025-06-18",
                capabilities: { tools: {} },
                serverInfo: { name: "x", version: "1" },
              }),
            );
          await assertDoesNotBlock(
            `${count} tools with ${kind}`,
            () => fixture.gateway.listServerTools(slug, caller, { refresh: true }, noAbort()),
          );
        }
      }
    });
  } finally {
    await server.shutdown();
    await fixture.stop();
  }
});
