import assert from "node:assert/strict";
import { untilListed } from "../../../scripts/demo/until_listed.ts";
import { brokenAnswer } from "../../gateway/tools/http_fixture.ts";
import { type McpFixtureOptions, startMcpServer } from "../../gateway/tools/mcp_fixture.ts";
import { addTool } from "../operator.ts";
import { call, completeWithResults } from "../script.ts";
import { canary, runJob, runLostWrite, type ToolStage } from "./tool_jobs.ts";

type Intercept = NonNullable<McpFixtureOptions["intercept"]>;

/** Tests tools of type `mcp_server` against a real MCP server that requires a key. */
export async function mcpServerSteps(t: Deno.TestContext, stage: ToolStage): Promise<void> {
  const { sql } = stage.platform;
  const secret = canary(stage, "mcp");
  const ofCalls = (answer: Intercept): Intercept => (request, next) =>
    request.method === "tools/call" ? answer(request, next) : undefined;

  async function setUp(slug: string, intercept: Intercept) {
    const server = await startMcpServer({
      intercept: (request, next) =>
        request.headers.get("x-key") === secret
          ? intercept(request, next)
          : new Response("who are you?", { status: 401 }),
    });
    const id = await addTool(sql, {
      slug,
      type: "mcp_server",
      config: { mcp_url: server.url, auth: { in: "header", name: "X-Key" } },
      secret: { name: `KEY_${slug}`, value: secret },
    });
    await untilListed(stage.platform.stack, slug);
    return { server, id, [Symbol.asyncDispose]: () => server.stop() };
  }

  await t.step("mcp_server: an agent calls it with the credential from Vault", async () => {
    await using desk = await setUp("desk", () => undefined);

    const { task, executions } = await runJob(stage, {
      tools: [{ id: desk.id }],
      turns: [call("desk__write_note", { text: "hello" }), completeWithResults],
    });

    assert.match(JSON.stringify(task.output), /written: hello/);
    assert.deepEqual(executions, [{
      mcp_name: "desk",
      tool_name: "write_note",
      status: "success",
      error_code: null,
      user_id: stage.userId,
    }]);
  });

  await t.step(
    "mcp_server: a lost answer of a write asks a person and is not repeated",
    async () => {
      await using lossy = await setUp(
        "lossy",
        ofCalls(async (_request, next) => {
          await next();
          return brokenAnswer();
        }),
      );

      await runLostWrite(stage, {
        tools: [{ id: lossy.id }],
        turns: [call("lossy__write_note", { text: "once" }), completeWithResults],
      }, () => lossy.server.notes.length);
    },
  );
}
