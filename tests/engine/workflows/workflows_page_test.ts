import assert from "node:assert/strict";
import { join } from "node:path";
import { createSwarm } from "../../../client/mod.ts";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { loadSupabaseJs } from "../../deps.ts";
import { addAgent, addProvider } from "../../e2e/operator.ts";
import { bootPlatform } from "../../e2e/platform.ts";
import { copyProject } from "../../e2e/project_copy.ts";

const PAGE = "docs/how-to/write-a-workflow.md";

/** The page's function, with the place of its import in a clone, and a question for outside. */
async function codeOfPage(): Promise<string> {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, PAGE));
  const [, code = ""] = /```ts\n(import[^]*?serveWorkflows[^]*?)```/.exec(text) ?? [];
  return code
    .replace('"supaswarm/workflows"', '"../../../shared/app/workflows_app.ts"')
    .replace("serveWorkflows([publish])", "serveWorkflows([publish, paid])")
    .replace(
      "function fetchFacts",
      `const paid = defineWorkflow("paid", async (flow) => {
        await flow.signalUrl("paid");
        const cents = await flow.signal("paid");
        const { content } = await flow.tool("catalog", "list_providers", {});
        const none = await flow.tool("nowhere", "read", {}).catch(({ code }) => code);
        return { cents, listed: JSON.stringify(content).includes("page"), none };
      });\nfunction fetchFacts`,
    );
}

Deno.test("the workflow of the page runs in a function, for a user of the public endpoints", async () => {
  // Answers of the page's agents.
  const models = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const { model } = await request.json();
      return Response.json({
        id: "1",
        object: "chat.completion",
        created: 1,
        model,
        choices: [{
          index: 0,
          finish_reason: "stop",
          message: { role: "assistant", content: `Written by ${model}` },
        }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    },
  );
  await using project = await copyProject({ workflows: await codeOfPage() });
  const config = join(project.root, "supabase/config.toml");
  await Deno.writeTextFile(config, "\n[functions.workflows]\nverify_jwt = false\n", {
    append: true,
  });
  await using platform = await bootPlatform({ projectRoot: project.root });
  const { sql, stack } = platform;
  try {
    const { port } = models.addr;
    await addProvider(sql, { name: "page", baseUrl: `http://127.0.0.1:${port}/v1` });
    for (const slug of ["drafter", "critic"]) await addAgent(sql, { slug, provider: "page" });
    const url = `${stack.apiUrl}/functions/v1/workflows`;
    const woken = await fetch(url, { method: "POST", headers: { apikey: stack.secretKey } });
    assert.equal(woken.status, 202, await woken.text());
    const refused = await fetch(url, { method: "POST", headers: { apikey: stack.publishableKey } });
    assert.equal(refused.status, 401);
    await refused.body?.cancel();

    const { createClient } = await loadSupabaseJs();
    const signUp = async () => {
      const supabase = createClient(stack.apiUrl, stack.publishableKey, {
        auth: { persistSession: false, autoRefreshToken: false },
      });
      const email = `${crypto.randomUUID()}@example.com`;
      const { error } = await supabase.auth.signUp({ email, password: crypto.randomUUID() });
      if (error !== null) throw error;
      return createSwarm(supabase);
    };
    const [owner, stranger] = [await signUp(), await signUp()];

    const job = await owner.run("publish", { topic: "webhooks" });
    await job.signal("stats", { views: 7 }, { key: "first" });
    await assert.rejects(stranger.job(job.id).signal("stats", { views: 0 }), {
      code: "TASK_NOT_FOUND",
    });
    const review = await waitFor(
      async () => (await owner.reviews.list()).find(({ question }) => question === "publish?"),
      { what: "the question" },
    );
    assert.deepEqual(review.context, {
      draft: "Written by drafter",
      critique: "Written by critic",
    });
    await job.respond(review, { approved: true });
    assert.deepEqual(await job.result(), { published: true, stats: { views: 7 } });

    const paid = await owner.run("paid", {});
    const address = await waitFor(async () => {
      const [step] = await sql`
        select output ->> 'value' as url from public.task_steps
        where task_id = ${paid.id}::uuid and state = 'done'`;
      return step?.url as string | undefined;
    }, { what: "the address" });
    const send = (to: string) => fetch(to, { method: "POST", body: '{"cents": 100}' });
    const wrong = await send(address.slice(0, -3));
    assert.equal(wrong.status, 404);
    assert.equal((await wrong.json()).error.code, "SIGNAL_URL_INVALID");
    const sent = await send(address);
    assert.equal(sent.status, 202, await sent.text());
    assert.deepEqual(await paid.result(), {
      cents: { cents: 100 },
      listed: true,
      none: "TOOL_NOT_FOUND",
    });
    const [call] = await sql`
      select call.user_id = task.created_by as is_owners
      from public.mcp_executions as call, public.tasks as task
      where task.id = ${paid.id}::uuid and call.tool_name = 'list_providers'`;
    assert.equal(call?.is_owners, true);
    assert.equal((await send(address)).status, 404);
  } finally {
    await models.shutdown();
  }
});
