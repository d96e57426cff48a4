import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { errorCodes, runToEnd } from "../e2e/bad_input/ended_job.ts";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent, addTool } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { call, completeWithResults, newestResults, scriptTurns, type Turn } from "../e2e/script.ts";
import { readSteps, untilTask } from "../e2e/task_view.ts";
import { brokenAnswer, startHttpServer } from "../gateway/tools/http_fixture.ts";
import { startMcpServer } from "../gateway/tools/mcp_fixture.ts";

/** The time limit of a silent tool, which must receive the request within it. */
const TOOL_TIMEOUT_MS = 3_000;

Deno.test("a job survives any fault of its tools, and no write is repeated blindly", async (t) => {
  await using platform = await bootPlatform({ db: "native" });

  await t.step("a read without an answer is an error result, and the job continues", async () => {
    await using silent = startSilentServer();
    const id = await addApi(platform, { slug: "silent-read", url: silent.url, method: "GET" });

    const end = await runToEnd(platform, {
      slug: "patient-reader",
      tools: [{ id }],
      turns: [call("silent-read__silent-read"), completeWithResults],
    });

    assert.deepEqual(errorCodes(end), ["TOOL_TIMEOUT"]);
    assert.match(JSON.stringify(end.task.output), /did not respond.*safe to call it again/is);
    assert.equal(silent.seen.length, 1);
  });

  await t.step("a write without an answer asks a person, and a rejected one ends", async () => {
    await using silent = startSilentServer();
    const id = await addApi(platform, { slug: "silent-write", url: silent.url, method: "POST" });
    const turns = [call("silent-write__silent-write"), completeWithResults] as const;

    const taskId = await startJob(platform, { slug: "careful", toolId: id, turns });
    await untilTask(platform.sql, taskId, "needs_human_review");
    const [question] = await platform.sql`
      select context from public.human_reviews where task_id = ${taskId}::uuid`;
    await answer(platform, taskId, false);
    const { output } = await untilTask(platform.sql, taskId, "completed");

    assert.deepEqual(question?.context.reasons, ["outcome_unknown"]);
    assert.match(JSON.stringify(output), /outcome is unknown.*decided not to make it again/s);
    assert.equal(silent.seen.length, 1);
  });

  await t.step(
    "a write whose answer is lost is repeated only with a person's approval",
    async () => {
      let callCount = 0;
      const desk = await startMcpServer({
        intercept: ({ method }, answerCall) => {
          if (method !== "tools/call" || callCount++ > 0) return undefined;
          return answerCall().then(brokenAnswer);
        },
      });
      try {
        const toolId = await addTool(platform.sql, {
          slug: "desk",
          type: "mcp_server",
          config: { mcp_url: desk.url },
        });
        const turns = [call("desk__write_note", { text: "paid" }), completeWithResults] as const;

        const taskId = await startJob(platform, { slug: "clerk", toolId, turns });
        await untilTask(platform.sql, taskId, "needs_human_review");
        assert.deepEqual(desk.notes, ["paid"]);
        await answer(platform, taskId, true);
        const { output } = await untilTask(platform.sql, taskId, "completed");

        assert.match(JSON.stringify(output), /written: paid/);
        assert.deepEqual(desk.notes, ["paid", "paid"]);
        const pay = (await readSteps(platform.sql, taskId)).filter(({ kind }) => kind === "tool");
        assert.deepEqual(pay.map(({ state }) => state), ["done"]);
      } finally {
        await desk.stop();
      }
    },
  );

  await t.step(
    "garbage is requested again, 5 MB and a flood are results, and the next call runs",
    async () => {
      type Answer = (answerCall: () => Promise<Response>) => Response | Promise<Response>;
      const answers: Answer[] = [
        () => new Response('{"jsonrpc": "2.0", "id": 1, "resu', { headers: JSON_TYPE }),
        async (answerCall) => {
          const whole = await answerCall();
          const text = (await whole.text()).replace("found", "x".repeat(5_000_000));
          return new Response(text, { headers: { "content-type": contentTypeOf(whole) } });
        },
        () => Response.json({ text: "x".repeat(6_000_000) }),
      ];
      const server = await startMcpServer({
        intercept: ({ method }, answerCall) =>
          method === "tools/call" ? answers.shift()?.(answerCall) : undefined,
      });
      try {
        const id = await addTool(platform.sql, {
          slug: "babble",
          type: "mcp_server",
          config: { mcp_url: server.url },
        });
        const search = call("babble__search", { searchValue: "x" });
        const results: string[] = [];

        const end = await runToEnd(platform, {
          slug: "listener",
          tools: [{ id }],
          turns: [
            // The tool is read-only, so the gateway itself retries after the garbage.
            search,
            (request) => {
              results.push(...newestResults(request));
              return search;
            },
            search,
            completeWithResults,
          ],
        });

        assert.deepEqual(errorCodes(end), ["OUTPUT_TOO_LARGE"]);
        assert.match(results[0] ?? "", /cut here: all 5000\d{3} bytes are stored at/);
        assert.equal(end.task.storage_paths.length, 1);
        assert.match(JSON.stringify(end.task.output), /found/);
      } finally {
        await server.stop();
      }
    },
  );
});

const JSON_TYPE = { "content-type": "application/json" };

function contentTypeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

/** Accepts every request and answers none until it is stopped. */
function startSilentServer() {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const server = startHttpServer(() => ended.then(() => new Response("late")));
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      end();
      await server.stop();
    },
  };
}

interface Api {
  readonly slug: string;
  readonly url: string;
  readonly method: "GET" | "POST";
}

async function addApi({ sql }: Platform, { slug, url, method }: Api): Promise<string> {
  const parameters: JsonObject = { type: "object", properties: {} };
  const config = { method, url, parameters, timeout_ms: TOOL_TIMEOUT_MS };
  return await addTool(sql, { slug, type: "http_api", config });
}

interface ReviewedJob {
  readonly slug: string;
  readonly toolId: string;
  readonly turns: readonly [Turn, ...Turn[]];
}

async function startJob(platform: Platform, { slug, toolId, turns }: ReviewedJob): Promise<string> {
  const { sql, stack: { models, secretKey }, project } = platform;
  await addAgent(sql, { slug, tools: [{ id: toolId }] });
  models.addAgent(scriptTurns(slug, ...turns));
  const body = { agent: slug, input: "Go" };
  const { task_id } = created(await sendRequest(project, { headers: { apikey: secretKey }, body }));
  return task_id;
}

async function answer({ sql }: Platform, taskId: string, approved: boolean): Promise<void> {
  await waitFor(async () => {
    const [row] = await sql`
      select public.respond_to_review(${taskId}::uuid, ${approved}, '{}', null) as status`;
    return row?.status === "pending";
  });
}
