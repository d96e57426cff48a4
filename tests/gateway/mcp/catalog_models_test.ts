import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { asJsonObject, type JsonObject } from "../../../shared/platform/values/json.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import type { McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { connectSdkClient } from "./sdk_client.ts";
import { startStreamingModel } from "./streaming_model.ts";
import { useOpenRouter } from "./use_openrouter.ts";

const enhancedSchema = z.object({
  text: z.string(),
  usage: z.object({
    tokens: z.int(),
    model: z.string(),
    provider: z.string(),
    key_source: z.string(),
  }),
});
const resultSchema = z.looseObject({ structuredContent: enhancedSchema });

Deno.test("the catalog's tools that call models", async (t) => {
  await using model = startStreamingModel();
  await using platform = await sharedPlatform();
  const { sql, project, mcpUrl } = platform;
  await useOpenRouter(sql, model.url);
  const ada = await platform.addUser("ada");
  const post = (
    user: McpUser,
    tool_name: string,
    parameters: JsonObject,
    init: { readonly accept?: string; readonly signal?: AbortSignal } = {},
  ) =>
    fetch(`${project.apiUrl}/functions/v1/mcp-execute`, {
      method: "POST",
      headers: {
        ...user.headers,
        "content-type": "application/json",
        accept: init.accept ?? "application/json",
      },
      body: JSON.stringify({ server: "catalog", tool_name, parameters }),
      ...(init.signal === undefined ? {} : { signal: init.signal }),
    });
  const stream = async (parameters: JsonObject, signal?: AbortSignal) => {
    const accept = "text/event-stream";
    const response = await post(
      ada,
      "enhance_prompt",
      parameters,
      signal === undefined ? { accept } : { accept, signal },
    );
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    return readEvents(response);
  };

  await t.step("enhance_prompt returns complete JSON, and records whose key paid", async () => {
    model.script = ["Better ", "prompt"];
    const response = await post(ada, "enhance_prompt", { text: "make it better" });
    const { structuredContent } = resultSchema.parse(await response.json());

    assert.deepEqual(structuredContent, {
      text: "Better prompt",
      usage: { tokens: 25, model: "streaming", provider: "openrouter", key_source: "organisation" },
    });
    assert.notEqual(model.requests.at(-1)?.stream, true);
    const [booked] = await sql`
      select model, key_source, input_tokens::int, output_tokens::int, mcp_name, tool_name, tool_version
      from public.usage_events where user_id = ${ada.id}`;
    assert.deepEqual({ ...booked }, {
      model: "streaming",
      key_source: "organisation",
      input_tokens: 20,
      output_tokens: 5,
      mcp_name: "catalog",
      tool_name: "enhance_prompt",
      tool_version: "1",
    });
  });

  await t.step(
    "mcp-execute streams deltas before the answer is complete, then the result",
    async () => {
      const { promise: rest, resolve: sendRest } = Promise.withResolvers<string>();
      model.script = ["Better ", rest];
      const events = await stream({ text: "make it better" });
      const first = await events.next();
      sendRest("prompt");
      const others = [];
      for await (const event of events) others.push(event);

      assert.deepEqual(first.value, { event: "delta", data: { text: "Better " } });
      assert.deepEqual(others[0], { event: "delta", data: { text: "prompt" } });
      assert.deepEqual(others.map(({ event }) => event), ["delta", "result"]);
      const { structuredContent } = resultSchema.parse(others.at(-1)?.data);
      assert.equal(structuredContent.text, "Better prompt");
    },
  );

  await t.step("a refused stream ends with the contents of the JSON answer", async () => {
    await sql`
      insert into public.mcp_policies (mcp_name, tool_name, user_id, max_input_bytes)
      values ('catalog', 'enhance_prompt', ${ada.id}, 100)`;
    const text = "x".repeat(200);
    const [event] = await Array.fromAsync(await stream({ text }));
    const plain = await post(ada, "enhance_prompt", { text });
    await sql`delete from public.mcp_policies where user_id = ${ada.id}`;

    const { error } = await plain.json();
    assert.deepEqual([plain.status, error.code], [413, "TOOL_INPUT_TOO_LARGE"]);
    assert.equal(event?.event, "error");
    assert.equal(asJsonObject(event?.data.error).code, "TOOL_INPUT_TOO_LARGE");
  });

  await t.step("an MCP client receives the text as progress", async () => {
    const long = "0123456789".repeat(1_000);
    model.script = ["Better ", long];
    await using connected = await connectSdkClient({
      url: `${mcpUrl}/catalog`,
      headers: ada.headers,
    });
    const progress: { progress: number; message?: string | undefined }[] = [];
    const { structuredContent } = await connected.client.callTool(
      { name: "enhance_prompt", arguments: { text: "make it better" } },
      { onprogress: (step) => progress.push(step) },
    );

    const pieces = progress.map(({ message = "" }) => message);
    assert.equal(pieces.join(""), `Better ${long}`);
    assert.ok(pieces.every(({ length }) => length <= 8_000));
    assert.ok(progress.every((step, at) => step.progress > (progress[at - 1]?.progress ?? 0)));
    assert.equal(enhancedSchema.parse(structuredContent).text, `Better ${long}`);
  });

  await t.step("a client that disconnects cancels the model's request", async () => {
    model.script = ["Better ", new Promise<string>(() => {})];
    const gone = new AbortController();
    const events = await stream({ text: "make it better" }, gone.signal);
    await events.next();
    gone.abort();
    await events.next().catch(() => {});

    await model.abandoned;
    await waitFor(async () => {
      const [row] = await sql`
        select failure.error_code from public.mcp_executions execution
        join public.mcp_failures failure on failure.execution_id = execution.id
        where execution.tool_name = 'enhance_prompt' order by execution.created_at desc limit 1`;
      return row?.error_code === "TOOL_CANCELLED";
    });
  });

  await t.step("text before the disconnect is charged, under a cap as well", async () => {
    await sql`
      insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok,
        cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
      select id, 'streaming', 1000000, 1000000, 1000000
      from public.llm_providers where name = 'openrouter'`;
    await sql`
      insert into public.model_policies (provider_id, spending_cap_micro_usd)
      select id, 1000000 from public.llm_providers where name = 'openrouter'`;
    const [last] = await sql`select max(id) as id from public.usage_events`;
    model.script = ["x".repeat(4_000), new Promise<string>(() => {})];
    const gone = new AbortController();
    const events = await stream({ text: "make it better" }, gone.signal);
    await events.next();
    gone.abort();
    await events.next().catch(() => {});

    const used = await waitFor(async () => {
      const [row] = await sql`
        select output_tokens::int, input_tokens::int > 50 as has_input, key_source, tool_name,
          cost_micro_usd::int > 1000 as has_cost
        from public.usage_events where id > ${last?.id}`;
      return row;
    });
    assert.deepEqual({ ...used }, {
      output_tokens: 1_000,
      has_input: true,
      key_source: "organisation",
      tool_name: "enhance_prompt",
      has_cost: true,
    });
    const reserved = await sql`select is_settled from private.model_reservations`;
    assert.deepEqual(reserved.map((row) => ({ ...row })), [{ is_settled: true }]);
    await sql`delete from public.model_policies`;
  });

  await t.step("a user's own ruleset is applied, another user's is not found", async () => {
    const eve = await platform.addUser("eve");
    const saved = await post(ada, "save_ruleset", {
      name: "House style",
      content: { rules: ["Never use jargon"], tone: "calm", brand: "Acme" },
    });
    const { structuredContent: { id } } = await saved.json();
    model.script = ["Calm prompt"];
    await post(ada, "enhance_prompt", { text: "make it better", rulesetId: id });
    const system = JSON.stringify(model.requests.at(-1)?.messages[0]);
    const refused = await post(eve, "enhance_prompt", { text: "x", rulesetId: id });

    for (const part of ["House style", "Never use jargon", "Tone: calm", "Acme"]) {
      assert.ok(system.includes(part), part);
    }
    assert.equal((await refused.json()).error_code, "RULESET_NOT_FOUND");
  });

  await t.step("draft_variations asks again until its variants differ", async () => {
    const answers = [["One", "one!"], ["Two"], ["Three"]];
    model.script = [JSON.stringify({ variants: answers.flat() })];
    const atOnce = await post(ada, "draft_variations", { text: "Say hello", style: "formal" });
    const before = model.requests.length;
    model.script = [JSON.stringify({ variants: ["One", "ONE", "Two."] })];
    const tooFew = await post(ada, "draft_variations", { text: "Say hello", n: 5 });

    const { structuredContent } = await atOnce.json();
    assert.deepEqual(structuredContent.variants, ["One", "Two", "Three"]);
    assert.ok(JSON.stringify(model.requests[before - 1]).includes("formally"));
    assert.equal((await tooFew.json()).error_code, "MODEL_OUTPUT_INVALID");
    assert.equal(model.requests.length - before, 3);
    assert.ok(JSON.stringify(model.requests.at(-1)).includes("Do not repeat"));
    const six = await post(ada, "draft_variations", { text: "Say hello", n: 6 });
    assert.equal((await six.json()).error_code, "TOOL_ARGUMENTS_INVALID");
  });
});

interface ServerEvent {
  readonly event: string;
  readonly data: JsonObject;
}

async function* readEvents(response: Response): AsyncGenerator<ServerEvent, void> {
  if (response.body === null) throw new Error("The response has no body");
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}
