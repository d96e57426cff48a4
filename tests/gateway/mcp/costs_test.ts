import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { addProject } from "../../../scripts/quoth/add_project.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { created, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addAgent, addProvider, toolId } from "../../e2e/operator.ts";
import { call, completeWithResults, scriptTurns } from "../../e2e/script.ts";
import type { McpPlatform, McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";

const SEARCH = { query: "How does a rollback work?", projectId: "priced-handbook" };
const QUERY_TOKENS = 7;
/** Prices of the tests' embedding model and their agent's model: one micro-dollar per token. */
const PRICE = 1_000_000;

const usageSchema = z.array(z.object({
  agent_slug: z.string().nullish(),
  tool_name: z.string(),
  call_count: z.number(),
  model_call_count: z.number(),
  cost_micro_usd: z.number().nullable(),
  unpriced_model_call_count: z.number(),
  agent_cost_micro_usd: z.number().nullable(),
}));

Deno.test("the cost of tool calls is reported by tool, by agent and by call", async (t) => {
  await using provider = startEmbeddingProvider();
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  const ada = await platform.addUser("ada");
  const eve = await platform.addUser("eve");
  await addEmbedder(sql, provider.url);
  await addHandbook(platform, ada.id);

  await t.step("a model without a price is counted with a null cost", async () => {
    await search(ada);

    const [row] = await readView(ada, "tool_usage");
    assert.deepEqual(
      [row?.tool_name, row?.model_call_count, row?.unpriced_model_call_count, row?.cost_micro_usd],
      ["quoth_search_index", 1, 1, null],
    );
  });

  await t.step("a search costs as much as its embedding", async () => {
    await setPrice(sql, "acme", "embed-1");
    const executionId = await search(ada);

    const [row] = await readView(ada, "tool_usage");
    assert.deepEqual([row?.call_count, row?.cost_micro_usd], [2, QUERY_TOKENS]);
    const [booked] = await sql`
      select user_id::text, model, key_source, input_tokens::int, output_tokens::int
      from public.usage_events where execution_id = ${executionId}::uuid`;
    assert.deepEqual({ ...booked }, {
      user_id: ada.id,
      model: "embed-1",
      key_source: "organisation",
      input_tokens: QUERY_TOKENS,
      output_tokens: 0,
    });
    const [ledger] = await sql`
      select llm_provider, llm_model from public.mcp_executions where id = ${executionId}::uuid`;
    assert.deepEqual({ ...ledger }, { llm_provider: "acme", llm_model: "embed-1" });
  });

  await t.step("an agent's tool costs its own usage and a share of its turn", async () => {
    await setPrice(sql, "demo", "bookkeeper");
    await addAgent(sql, { slug: "bookkeeper", tools: [{ id: await toolId(sql, "quoth") }] });
    stack.models.addAgent(scriptTurns(
      "bookkeeper",
      call("quoth__quoth_search_index", SEARCH),
      completeWithResults,
    ));
    const task = await runTask(platform, ada, "bookkeeper");

    const [row] = await readView(ada, "agent_tool_usage")
      .then((rows) => rows.filter(({ agent_slug }) => agent_slug === "bookkeeper"));
    const [asked] = await sql`
      select cost_micro_usd::int as cost from public.usage_events
      where task_id = ${task.id}::uuid and execution_id is null order by step_seq limit 1`;
    assert.ok(asked?.cost > 0);
    assert.deepEqual(
      [row?.call_count, row?.cost_micro_usd, row?.agent_cost_micro_usd],
      [1, QUERY_TOKENS, asked?.cost],
    );
    const [bill] = await sql`
      select sum(cost_micro_usd)::int as cost from public.usage_events
      where task_id = ${task.id}::uuid`;
    assert.equal(task.cost, bill?.cost, "the task's total includes its tools' usage");
  });

  await t.step("a call that fails after its model has answered is charged", async () => {
    const costOf = async () => (await readView(ada, "tool_usage"))[0]?.cost_micro_usd ?? 0;
    const before = await costOf();
    await sql`revoke execute on function public.search_documents from authenticated`;
    const params = { name: "quoth_search_index", arguments: SEARCH };
    const { last } = await ada.send({ path: "/quoth", method: "tools/call", params });
    await sql`grant execute on function public.search_documents to authenticated`;

    assert.equal(last.result?.isError, true);
    assert.equal(await costOf(), before + QUERY_TOKENS);
  });

  await t.step("nobody sees the cost of others' calls", async () => {
    assert.deepEqual(await readView(eve, "tool_usage"), []);
    assert.deepEqual(await readView(eve, "agent_tool_usage"), []);
  });
});

/** An embedding model with OpenAI's API that counts the tokens of a query. */
function startEmbeddingProvider() {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { input } = z.object({ input: z.array(z.string()) }).parse(await request.json());
      const embedding = Array.from({ length: 768 }, (_, place) => place === 0 ? 1 : 0);
      return Response.json({
        data: input.map((_, index) => ({ index, embedding })),
        usage: { prompt_tokens: QUERY_TOKENS, total_tokens: QUERY_TOKENS },
      });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function addEmbedder(sql: Sql, url: string): Promise<void> {
  await addProvider(sql, { name: "acme", baseUrl: url });
  await sql`
    insert into public.embedders
      (name, api, base_url, model, model_dimensions, window_tokens, max_batch_items, llm_provider)
    values ('acme@768', 'openai', ${url}, 'embed-1', 768, 480, 16, 'acme')`;
}

async function addHandbook({ sql, project, stack }: McpPlatform, member: string): Promise<void> {
  await addProject(sql, {
    slug: "priced-handbook",
    repo: "acme/handbook",
    branch: null,
    globs: null,
    language: null,
    embedder: "acme@768",
    members: [member],
    isSynced: false,
  });
  const files = [{ path: "deploy.md", content: "# Rollback\n\nIt restores the last release.\n" }];
  const response = await fetch(`${project.apiUrl}/functions/v1/quoth-sync`, {
    method: "POST",
    headers: { apikey: stack.secretKey, "content-type": "application/json" },
    body: JSON.stringify({ project: "priced-handbook", files }),
  });
  assert.equal(response.status, 202, await response.text());
  await waitFor(async () => {
    const [row] = await sql`
      select count(*)::int as ready
      from public.document_embeddings as chunk
      join public.projects as project on project.id = chunk.project_id
      where project.slug = 'priced-handbook' and chunk.embedding is not null`;
    return row?.ready === 1;
  }, { what: "the index", intervalMs: 100 });
}

async function setPrice(sql: Sql, provider: string, model: string): Promise<void> {
  await sql`
    insert into public.model_prices
      (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
        output_micro_usd_per_mtok)
    select id, ${model}, ${PRICE}, ${PRICE}, ${PRICE} from public.llm_providers
    where name = ${provider}`;
}

/** @returns The id of the call. */
async function search({ send }: McpUser): Promise<string> {
  const params = { name: "quoth_search_index", arguments: SEARCH };
  const { last } = await send({ path: "/quoth", method: "tools/call", params });
  const meta = z.object({ _meta: z.looseObject({ execution_id: z.string() }) });
  assert.notEqual(last.result?.isError, true, JSON.stringify(last));
  return meta.parse(last.result)._meta.execution_id;
}

async function runTask(
  { sql, project }: McpPlatform,
  { headers }: McpUser,
  agent: string,
): Promise<{ readonly id: string; readonly cost: number }> {
  const { task_id } = created(
    await sendRequest(project, { headers, body: { agent, input: "Search" } }),
  );
  return await waitFor(async () => {
    const [task] = await sql<{ id: string; cost: number }[]>`
      select id, cost_micro_usd::int as cost from public.tasks
      where id = ${task_id}::uuid and status = 'completed'`;
    return task;
  }, { what: "the task", intervalMs: 100 });
}

async function readView({ user }: McpUser, view: string) {
  const { data, error } = await user.client.from(view).select();
  assert.equal(error, null);
  return usageSchema.parse(data);
}
