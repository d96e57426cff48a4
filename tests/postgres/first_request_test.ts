import assert from "node:assert/strict";
import { createMcpApp } from "../../shared/app/mcp_app.ts";
import { createMcpExecuteApp } from "../../shared/app/mcp_execute_app.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { withDeadline } from "../../shared/platform/values/with_deadline.ts";
import { sendRequest } from "../e2e/create_task_endpoint.ts";
import { type FreshFunction, startFreshFunction } from "../gateway/mcp/fresh_function.ts";
import { addHeldTable, holdTable, untilHeld } from "../gateway/mcp/held_table.ts";
import { bootMcpPlatform, grantScopes, type McpUser } from "../gateway/mcp/mcp_platform.ts";
import { rawClient } from "../gateway/mcp/raw_message.ts";

/** Its tool runs nothing as the caller. */
const CATALOG_CALL = { server: "catalog", tool: "validate_prompt", args: { text: "Sum up." } };
/** Much more than a statement takes, and less than the statement timeout. */
const WAIT_MS = 10_000;

interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** Calls a tool, and returns the status and text of the response. */
type CallTool = (user: McpUser, call: ToolCall) => Promise<string>;

const FUNCTIONS = [
  { name: "mcp", create: createMcpApp, callOf: mcpCalls },
  { name: "mcp-execute", create: createMcpExecuteApp, callOf: executeCalls },
] as const;

Deno.test("a statement waits for no other user's, whatever was answered first", async (t) => {
  await using platform = await bootMcpPlatform({ db: "native" });
  const { sql } = platform;
  await addHeldTable(sql);
  const [ada, bob] = [await platform.addUser("ada"), await platform.addUser("bob")];
  for (const { id } of [ada, bob]) await grantScopes(sql, id, ["sql:read"]);
  const firsts = { "a tool of the catalog": CATALOG_CALL, "a statement": select("1 as one") };
  for (const { name, create, callOf } of FUNCTIONS) {
    for (const [what, first] of Object.entries(firsts)) {
      await t.step(`${name}, after ${what}`, async () => {
        await using fresh = startFreshFunction(platform, { name, create });
        const call = callOf(fresh);
        assert.match(await call(ada, first), /^200 /);
        await using hold = await holdTable(sql);
        const held = call(ada, select("state from public.held"));
        const early = held.then((answer) => assert.fail(`it did not wait: ${answer}`));
        await Promise.race([untilHeld(sql), early]);
        early.catch(() => {});

        const timed = await withDeadline(
          WAIT_MS,
          new AbortController().signal,
          () => call(bob, select("2 as two")),
        );

        await hold.release();
        assert.match(await held, /^200 .*ended/s);
        assert.equal(timed.kind, "done", "the other user's statement had to wait");
        assert.match(timed.kind === "done" ? timed.value : "", /^200 .*two/s);
      });
    }
  }
});

function select(list: string): ToolCall {
  return {
    server: "supabase",
    tool: "execute_sql",
    args: { sql: `select ${list}`, dry_run: false },
  };
}

function mcpCalls({ apiUrl }: FreshFunction): CallTool {
  return async ({ headers }, { server, tool, args }) => {
    const { status, last } = await rawClient(apiUrl, headers)({
      path: `/${server}`,
      method: "tools/call",
      params: { name: tool, arguments: args },
    });
    return `${status} ${JSON.stringify(last)}`;
  };
}

function executeCalls({ apiUrl }: FreshFunction): CallTool {
  return async ({ headers }, { server, tool, args }) => {
    const { status, body } = await sendRequest({ apiUrl }, {
      endpoint: "/functions/v1/mcp-execute",
      headers,
      body: { server, tool_name: tool, parameters: args },
    });
    return `${status} ${JSON.stringify(body)}`;
  };
}
