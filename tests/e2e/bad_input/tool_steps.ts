import assert from "node:assert/strict";
import { addTool } from "../operator.ts";
import type { Platform } from "../platform.ts";
import { call, complete, completeWithResults, newestResults } from "../script.ts";
import { errorCodes, runToEnd } from "./ended_job.ts";
import { startRawServer } from "./raw_server.ts";
import type { Step } from "./step.ts";

/** Impossible calls, and unusable tools. */
export async function toolSteps(step: Step, platform: Platform): Promise<void> {
  const { sql } = platform;
  await using api = startRawServer(({ url }) => {
    const isTooLarge = url.searchParams.get("id") === "too-large";
    return new Response("x".repeat(isTooLarge ? 6_000_000 : 1_000_000));
  });
  const parameters = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const config = { method: "GET", url: `${api.url}/items`, parameters };
  const warningsOf = async (taskId: string) => {
    const [row] = await sql`select warnings from public.tasks where id = ${taskId}`;
    return row?.warnings as [Record<string, unknown> & { message?: string }];
  };
  const items = await addTool(sql, { slug: "items", type: "http_api", config });

  await step("invalid arguments are returned with advice, and never passed on", async () => {
    const wrong = call("items__items", { id: 7 });
    const agent = { slug: "sloppy", tools: [{ id: items }] };
    const end = await runToEnd(platform, {
      ...agent,
      turns: [wrong, wrong, wrong, completeWithResults],
    });

    assert.deepEqual(errorCodes(end), [
      "TOOL_ARGUMENTS_INVALID",
      "TOOL_ARGUMENTS_INVALID",
      "EXCEEDED_RETRIES",
    ]);
    assert.match(JSON.stringify(end.task.output), /EXCEEDED_RETRIES/);
    assert.equal(api.seen.length, 0);
  });

  await step("an oversized tool result is kept in Storage up to its limit", async () => {
    const agent = { slug: "greedy", tools: [{ id: items }] };
    const results: string[] = [];
    const end = await runToEnd(platform, {
      ...agent,
      turns: [
        call("items__items", { id: "large" }),
        (request) => {
          results.push(...newestResults(request));
          return call("items__items", { id: "too-large" });
        },
        completeWithResults,
      ],
    });

    assert.equal(end.task.status, "completed");
    assert.match(results[0] ?? "", /cut here: all 1000000 bytes are stored at/);
    // The gateway cuts results above 4 MiB; the rest is kept completely.
    assert.match(JSON.stringify(end.task.output), /cut here: all 4194\d{3} bytes are stored at/);
    assert.equal(end.task.storage_paths.length, 2);
    assert.deepEqual(errorCodes(end), []);
  });

  await step("a secret that is missing in Vault is named for every tool type", async () => {
    const secret = { name: "NEVER_STORED" };
    const tools = [
      await addTool(sql, { slug: "lacking", type: "http_api", config, secret }),
      await addTool(sql, {
        slug: "unreachable",
        type: "mcp_server",
        config: { mcp_url: "http://127.0.0.1:9/mcp" },
        secret,
      }),
    ].map((id) => ({ id }));
    let system = "";
    const end = await runToEnd(platform, {
      slug: "poor",
      tools,
      turns: [
        (request) => {
          system = request.system;
          return call("lacking__lacking", { id: "7" });
        },
        completeWithResults,
      ],
    });

    assert.deepEqual(errorCodes(end), ["SECRET_NOT_FOUND"]);
    assert.match(JSON.stringify(end.task.output), /no secret named 'NEVER_STORED'/);
    assert.match(system, /lacking: SECRET_NOT_FOUND[^]*unreachable: SECRET_NOT_FOUND/);
    assert.ok(end.events.some(({ payload }) => payload.error_code === "SECRET_NOT_FOUND"));
  });

  await step("an unusable tool is omitted, and the agent and the result say so", async () => {
    await sql`create function public.twisted() returns int language sql as 'select 1'`;
    const config = { function: "public.twisted" };
    const id = await addTool(sql, { slug: "twisted", type: "supabase_rpc", config });
    await sql`drop function public.twisted()`;
    let system = "";
    const end = await runToEnd(platform, {
      slug: "patient",
      tools: [{ id }],
      turns: [(request) => {
        system = request.system;
        return complete("without it");
      }],
    });

    assert.equal(end.task.output, "without it");
    assert.match(system, /twisted: TOOL_CONFIG_INVALID/);
    const [{ server, code, message }, ...others] = await warningsOf(end.task.id);
    assert.deepEqual([server, code, others], ["twisted", "TOOL_CONFIG_INVALID", []]);
    assert.match(message ?? "", /public\.twisted.*does not exist/);
  });

  await step("a completed task whose tool failed says so until the tool succeeds", async () => {
    const tools = [{ id: items }];
    const wrong = call("items__items", { id: 7 });
    const right = call("items__items", { id: "x" });
    const turns = [wrong, complete("a guess")];
    const guessed = await runToEnd(platform, { slug: "guessing", tools, turns });
    const corrected = [wrong, right, complete("known")];
    const known = await runToEnd(platform, { slug: "knowing", tools, turns: corrected });

    assert.equal(guessed.task.status, "completed");
    const [{ tool, code, step_seq: stepSeq }] = await warningsOf(guessed.task.id);
    assert.deepEqual([tool, code, stepSeq], ["items", "TOOL_ARGUMENTS_INVALID", 2]);
    const ended = guessed.events.find(({ type }) => type === "task.completed");
    assert.deepEqual(ended?.payload.warnings, await warningsOf(guessed.task.id));
    assert.deepEqual(await warningsOf(known.task.id), []);
  });
}
