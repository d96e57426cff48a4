import assert from "node:assert/strict";
import { type HttpFixture, startHttpServer } from "../../gateway/tools/http_fixture.ts";
import { addTool } from "../operator.ts";
import { call, completeWithResults } from "../script.ts";
import { runJob, runLostWrite, type ToolStage } from "./tool_jobs.ts";

/** How the function must answer. */
type Fate = "give" | "lose";

/** The other side of the function: it records effects and decides the outcome of the answer. */
export interface EdgeRecorder extends AsyncDisposable {
  readonly server: HttpFixture;
  /** One per expected answer; without an entry the function answers. */
  readonly fates: Fate[];
}

/** Starts the recorder, whose address the function's code contains. */
export function startRecorder(): EdgeRecorder {
  const fates: Fate[] = [];
  const server = startHttpServer(() => new Response(fates.shift() ?? "give"));
  return { server, fates, [Symbol.asyncDispose]: () => server.stop() };
}

/** Code of an edge function for heavy work, as a project would write it: only for tool calls. */
export function keepFunction(recorderUrl: string): string {
  return `
    Deno.serve(async (request) => {
      const { default: secretKey } = JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS"));
      if ([...request.headers.values()].join().includes(secretKey)) {
        return new Response("the secret key was sent", { status: 500 });
      }
      const verified = await fetch(Deno.env.get("SUPABASE_URL") + "/rest/v1/rpc/verify_tool_token", {
        method: "POST",
        headers: { apikey: secretKey, "content-type": "application/json" },
        body: JSON.stringify({ p_token: request.headers.get("x-supaswarm-token") ?? "" }),
      });
      if (!verified.ok) return new Response("no", { status: 401 });
      const { user_id: userId } = await verified.json();
      const { text } = await request.json();
      const answer = await fetch("${recorderUrl}", {
        method: "POST",
        body: JSON.stringify({ text, userId }),
      });
      if (await answer.text() === "give") return Response.json({ kept: text });
      return new Response(new ReadableStream({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode('{"kept":'));
          controller.error(new Error("broken off on purpose"));
        },
      }));
    });
  `;
}

/** Tests tools of type `supabase_rpc` that are edge functions; `keep` runs the recorder's code. */
export async function edgeFunctionSteps(
  t: Deno.TestContext,
  stage: ToolStage,
  { server, fates }: EdgeRecorder,
): Promise<void> {
  const { platform: { sql }, userId } = stage;
  const writes = { id: await addFunction("keep", {}) };
  const reads = { id: await addFunction("look", { read_only: true }) };

  async function addFunction(slug: string, config: { readonly read_only?: boolean }) {
    const edge = { edge_function: "keep", ...config };
    return await addTool(sql, { slug, type: "supabase_rpc", config: edge });
  }

  await t.step("supabase_rpc: an edge function gets a token for its user, and no key", async () => {
    const { task, executions } = await runJob(stage, {
      tools: [writes],
      turns: [call("keep__keep", { text: "tea" }), completeWithResults],
    });

    assert.match(JSON.stringify(task.output), /kept.*tea/s);
    assert.deepEqual(server.seen.map(({ body }) => JSON.parse(body)), [{ text: "tea", userId }]);
    assert.deepEqual(executions.map(({ mcp_name, status }) => [mcp_name, status]), [
      ["keep", "success"],
    ]);
  });

  await t.step("supabase_rpc: an edge function that breaks off asks a person", async () => {
    fates.push("lose");

    await runLostWrite(stage, {
      tools: [writes],
      turns: [call("keep__keep", { text: "once" }), completeWithResults],
    }, () => server.seen.filter(({ body }) => body.includes("once")).length);
  });

  await t.step("supabase_rpc: a read-only edge function is called again", async () => {
    fates.push("lose");

    const { task, executions } = await runJob(stage, {
      tools: [reads],
      turns: [
        call("look__keep", { text: "again" }),
        completeWithResults,
      ],
    });

    assert.match(JSON.stringify(task.output), /kept.*again/s);
    assert.deepEqual(executions.map(({ error_code }) => error_code), [null]);
  });
}
