import assert from "node:assert/strict";
import { codeOfNul, executeRequest } from "../../../shared/gateway/execute/execute_request.ts";
import { readMessage } from "../../../shared/gateway/mcp/mcp_message.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { REQUEST_LIMITS } from "../../../shared/platform/json/json_limits.ts";
import { parseBody } from "../../../shared/platform/http/parse_body.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";

const WRITE = { sql: "insert into t values ($1)", params: ["fine", "a\0b"] };

const call = (args: JsonObject) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "execute_sql", arguments: args },
});

function requestOf(body: unknown): Request {
  return new Request("http://localhost/", { method: "POST", body: JSON.stringify(body) });
}

async function refusalOf(work: Promise<unknown>): Promise<SwarmError> {
  const error = await work.then(() => null, (error) => error);
  assert.ok(error instanceof SwarmError, "it was accepted");
  return error;
}

Deno.test("U+0000 in a tool's arguments is refused with its path, over MCP and mcp-execute", async () => {
  const overMcp = await refusalOf(readMessage(requestOf(call(WRITE))));
  const inBatch = await refusalOf(readMessage(requestOf([call({}), call(WRITE)])));
  const executed = await refusalOf(
    parseBody(
      requestOf({ server: "supabase", tool_name: "x", parameters: WRITE }),
      executeRequest,
      REQUEST_LIMITS,
      codeOfNul,
    ),
  );

  assert.deepEqual(
    [overMcp, inBatch, executed].map(({ code, details }) => [code, details]),
    [
      ["TOOL_ARGUMENTS_INVALID", { path: "params.arguments.params.1" }],
      ["TOOL_ARGUMENTS_INVALID", { path: "1.params.arguments.params.1" }],
      ["TOOL_ARGUMENTS_INVALID", { path: "parameters.params.1" }],
    ],
  );
  assert.match(executed.message, /parameters\.params\.1 contains the character U\+0000/);
  assert.match(executed.hint ?? "", /Remove the character/);
});

Deno.test("U+0000 elsewhere in a body is refused as the body's fault", async () => {
  const error = await refusalOf(readMessage(requestOf({ method: "ping\0" })));

  assert.deepEqual([error.code, error.details], ["BODY_INVALID", { path: "method" }]);
});

Deno.test("text that only names the character is kept", async () => {
  const { body } = await readMessage(requestOf(call({ sql: "select '\\u0000'" })));

  assert.deepEqual(body, call({ sql: "select '\\u0000'" }));
});
