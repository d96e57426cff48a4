import assert from "node:assert/strict";
import {
  brokenAnswer,
  type SeenHttpRequest,
  startHttpServer,
} from "../../gateway/tools/http_fixture.ts";
import { addTool } from "../operator.ts";
import { call, completeWithResults } from "../script.ts";
import { canary, runJob, runLostWrite, type ToolStage } from "./tool_jobs.ts";

const PARAMETERS = {
  type: "object",
  properties: { item: { type: "string" } },
  required: ["item"],
  additionalProperties: false,
};

/** Tests tools of type `http_api` against a real HTTP API. */
export async function httpApiSteps(t: Deno.TestContext, stage: ToolStage): Promise<void> {
  const { platform: { sql }, user } = stage;
  const secret = canary(stage, "http");

  async function setUp(
    slug: string,
    answer: (request: SeenHttpRequest, secret: string) => Response,
  ) {
    const server = startHttpServer((request) => answer(request, secret));
    const id = await addTool(sql, {
      slug,
      type: "http_api",
      config: { method: "POST", url: `${server.url}/items`, parameters: PARAMETERS },
      secret: { name: `KEY_${slug}`, value: secret },
    });
    return { server, id, [Symbol.asyncDispose]: () => server.stop() };
  }

  await t.step(
    "http_api: the credential from Vault arrives, and the user's own takes precedence",
    async () => {
      await using api = await setUp("items", (request) => echo(request));
      const run = () =>
        runJob(stage, {
          tools: [{ id: api.id }],
          turns: [call("items__items", { item: "tea" }), completeWithResults],
        });

      const { task, executions } = await run();
      const own = canary(stage, "own");
      await user.client.rpc("set_tool_credential", { p_tool_slug: "items", p_secret: own });
      await run();

      assert.match(JSON.stringify(task.output), /tea.*\[redacted\]/s);
      assert.deepEqual(executions.map(({ mcp_name, status }) => [mcp_name, status]), [
        ["items", "success"],
      ]);
      const keys = api.server.seen.map(({ headers }) => headers.get("x-api-key"));
      assert.deepEqual(keys, [secret, own]);
    },
  );

  await t.step("http_api: a tool for everyone needs no grant, and any other does", async () => {
    await using api = await setUp("open", () => Response.json({ found: "tea" }));
    const run = () =>
      runJob(stage, {
        tools: [{ id: api.id }],
        turns: [call("open__open", { item: "tea" }), completeWithResults],
        isGranted: false,
      });
    await sql`update public.tools set audience = 'everyone' where id = ${api.id}::uuid`;

    const allowed = await run();
    await sql`update public.tools set audience = 'granted' where id = ${api.id}::uuid`;
    const refused = await run();

    assert.match(JSON.stringify(allowed.task.output), /tea/);
    assert.equal(refused.calls[0]?.output.error_code, "INSUFFICIENT_SCOPE");
    const [row] = await sql`select warnings from public.tasks where id = ${refused.task.id}::uuid`;
    assert.match(JSON.stringify(row?.warnings), /scope mcp:open; audience: everyone in the tool/);
    assert.equal(api.server.seen.length, 1);
  });

  await t.step("http_api: a lost answer of a POST asks a person without a repeat", async () => {
    await using api = await setUp("order", () => brokenAnswer());

    await runLostWrite(stage, {
      tools: [{ id: api.id }],
      turns: [call("order__order", { item: "tea" }), completeWithResults],
    }, () => api.server.seen.length);
  });
}

/** An API that returns what it received, including its caller's key. */
function echo({ url, body, headers }: SeenHttpRequest): Response {
  return Response.json({ query: url.search, body, key: headers.get("x-api-key") });
}
