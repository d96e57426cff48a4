import assert from "node:assert/strict";
import { errorCodes, runToEnd } from "../e2e/bad_input/ended_job.ts";
import { addTool } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { call, complete, completeWithResults, newestResults } from "../e2e/script.ts";
import { freePorts } from "../stack/free_ports.ts";
import { type McpFixture, startMcpServer } from "../gateway/tools/mcp_fixture.ts";

const search = call("away__search", { searchValue: "x" });
/** How long a listing waits; longer than the threshold for slow servers. */
const LISTING_TIMEOUT_MS = 1_500;

Deno.test("an MCP server may become unavailable and return", async (t) => {
  await using platform = await bootPlatform({ db: "native" });
  const port = freePorts();
  let server = await startMcpServer({ port });
  const id = await register(platform, "away", server.url);
  const stopServer = () => server.stop();
  const comeBack = async () => {
    server = await startMcpServer({ port });
  };

  try {
    await t.step(
      "during a job: the call gets a clear error, and the next one works",
      async () => {
        const results: string[] = [];
        const end = await runToEnd(platform, {
          slug: "persistent",
          tools: [{ id }],
          turns: [
            search,
            async (request) => {
              results.push(...newestResults(request));
              await stopServer();
              return search;
            },
            async (request) => {
              results.push(...newestResults(request));
              await comeBack();
              return search;
            },
            completeWithResults,
          ],
        });

        assert.equal(end.task.status, "completed");
        assert.match(results[0] ?? "", /found/);
        assert.match(results[1] ?? "", /Cannot reach the tool server 'away'/);
        assert.match(JSON.stringify(end.task.output), /found/);
        assert.deepEqual(errorCodes(end), ["TOOL_UNAVAILABLE"]);
        assert.deepEqual(end.task.attempts, 0);
      },
    );

    await t.step("when its list is due: cached tools are offered and work again", async () => {
      await platform.sql`
        update public.agent_mcp_connections set tools_listed_at = now() - interval '1 hour'`;
      await stopServer();
      const end = await runToEnd(platform, {
        slug: "with-cache",
        tools: [{ id }],
        turns: [
          search,
          async () => {
            await comeBack();
            return search;
          },
          completeWithResults,
        ],
      });

      assert.deepEqual(errorCodes(end), ["TOOL_UNAVAILABLE"]);
      assert.match(JSON.stringify(end.task.output), /found/);
    });

    await t.step("before its first listing: the agent and the trace report it", async () => {
      const fresh = await register(platform, "fresh", server.url);
      await stopServer();
      const systems: string[] = [];
      const job = (slug: string) =>
        runToEnd(platform, {
          slug,
          tools: [{ id: fresh }],
          turns: [
            (request) => {
              systems.push(request.system);
              return call("fresh__search", { searchValue: "x" });
            },
            completeWithResults,
          ],
        });

      const without = await job("without");
      await comeBack();
      const again = await job("with");

      assert.match(systems[0] ?? "", /fresh: TOOL_UNAVAILABLE/);
      assert.deepEqual(errorCodes(without), ["TOOL_UNAVAILABLE"]);
      assert.deepEqual(absences(without), [{ server: "fresh", error_code: "TOOL_UNAVAILABLE" }]);
      assert.match(JSON.stringify(again.task.output), /found/);
      assert.deepEqual(absences(again), []);
    });

    // After the other steps, because the first listing of a new isolate takes longer on a busy machine.
    await t.step("one that never responds delays one job, not each of its agent's", async () => {
      await using hole = openSilentPort();
      const id = await register(platform, "hole", hole.url, { timeout_ms: LISTING_TIMEOUT_MS });
      const job = (slug: string) =>
        runToEnd(platform, { slug, tools: [{ id }], turns: [complete("without it")] });

      const first = await job("first-to-wait");
      const connections = hole.count();
      const second = await job("second");
      const afterSecond = hole.count();
      await platform.sql`
        update public.agent_mcp_connections set listing_failed_at = now() - interval '2 minutes'`;
      const third = await job("third");

      for (const end of [first, second, third]) {
        assert.equal(end.task.output, "without it");
        assert.deepEqual(absences(end), [{ server: "hole", error_code: "TOOL_TIMEOUT" }]);
      }
      assert.ok(connections > 0);
      assert.equal(afterSecond, connections, "the second job did not call the server");
      assert.ok(hole.count() > afterSecond, "the server is called again after some time");
    });
  } finally {
    await server.stop();
  }
});

async function register(
  { sql }: Platform,
  slug: string,
  url: McpFixture["url"],
  config: { readonly timeout_ms?: number } = {},
): Promise<string> {
  return await addTool(sql, { slug, type: "mcp_server", config: { mcp_url: url, ...config } });
}

/** The events in the trace about servers that could not list their tools. */
function absences({ events }: Awaited<ReturnType<typeof runToEnd>>) {
  return events
    .filter(({ type, payload }) => type === "tool.failed" && payload.step_seq === undefined)
    .map(({ payload: { server = null, error_code = null } }) => ({ server, error_code }));
}

/** Accepts connections and never responds. */
function openSilentPort() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Deno.TcpConn[] = [];
  const accepting = (async () => {
    for await (const connection of listener) connections.push(connection);
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/mcp`,
    count: () => connections.length,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of connections) connection.close();
      await accepting;
    },
  };
}
