import assert from "node:assert/strict";
import { scriptModel } from "../../../scripts/models/scripted_agent.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { z } from "../../../shared/vendor/zod.js";
import { listen } from "../../e2e/channel_listener.ts";
import { addAgent } from "../../e2e/operator.ts";
import { untilTask } from "../../e2e/task_view.ts";
import { grantScopes, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { startStreamingModel } from "./streaming_model.ts";
import { useOpenRouter } from "./use_openrouter.ts";

const createdSchema = z.object({
  task_id: z.guid(),
  channels: z.object({ master: z.string() }),
});

const deltaSchema = z.object({ payload: z.looseObject({ data: z.unknown() }) });

Deno.test("an agent uses the tools of the catalog on behalf of its task's owner", async (t) => {
  await using model = startStreamingModel();
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  await useOpenRouter(sql, model.url);
  stack.models.addAgent(scriptModel("chatter", ({ messages, toolNames }) => {
    const results = messages.filter((message) => message.role === "tool");
    const named = (tool: string) => toolNames.find((name) => name.endsWith(tool)) ?? tool;
    if (results.length === 0) {
      return {
        toolCalls: [{ name: named("enhance_prompt"), arguments: { text: "make it better" } }],
      };
    }
    return { text: `Enhanced: ${results.at(-1)?.text}` };
  }));
  const [catalog] = await sql<{ id: string }[]>`select id from public.tools where slug = 'catalog'`;
  await addAgent(sql, {
    slug: "chatter",
    tools: [{ id: catalog?.id ?? "", allowed: ["enhance_prompt"] }],
  });
  const ada = await platform.addUser("ada");
  const bare = await platform.addUser("bare");
  await grantScopes(sql, bare.id, ["swarm:run", "conv:write", "chat:read"]);

  const converse = async ({ user: { client } }: McpUser) => {
    const { data } = await client.functions.invoke("mcp-execute", {
      body: { server: "catalog", tool_name: "create_conversation", parameters: { title: "Talk" } },
    });
    return z.object({ structuredContent: z.object({ id: z.guid() }) }).parse(data).structuredContent
      .id;
  };
  const ask = async ({ user: { client } }: McpUser, metadata: JsonObject) => {
    const { data, error } = await client.functions.invoke("supaswarm-create-task", {
      body: { agent: "chatter", input: "Improve it", metadata, watch: true },
    });
    if (error !== null) throw error;
    return createdSchema.parse(data);
  };
  const messagesOf = async ({ user: { client } }: McpUser, conversationId: string) => {
    const { data } = await client.from("messages").select("role, content")
      .eq("conversation_id", conversationId);
    return data;
  };

  await t.step(
    "its calls belong to the owner, their text is streamed, and the output is one message",
    async () => {
      const { promise: rest, resolve: sendRest } = Promise.withResolvers<string>();
      model.script = ["Better ", rest];
      const conversationId = await converse(ada);
      const { task_id, channels } = await ask(ada, { conversation_id: conversationId });
      const job = await listen(ada.user.client, channels.master);
      await ada.user.client.rpc("watch_task", { p_task_id: task_id });
      const delta = deltaSchema.parse(await job.until("model.delta"));
      sendRest("prompt");
      const { output } = await untilTask(sql, task_id, "completed");
      await job.until("task.completed");

      assert.deepEqual(delta.payload.data, { step_seq: 2, offset: 0, text: "Better " });
      assert.ok(String(output).includes("Better prompt"), String(output));
      assert.deepEqual(await messagesOf(ada, conversationId), [{
        role: "assistant",
        content: output,
      }]);
      const [used] = await sql`
      select user_id, tool_name, tool_version, key_source from public.usage_events
      where task_id = ${task_id} and mcp_name = 'catalog'`;
      assert.deepEqual({ ...used }, {
        user_id: ada.id,
        tool_name: "enhance_prompt",
        tool_version: "1",
        key_source: "organisation",
      });
      await ada.user.client.realtime.disconnect();
    },
  );

  await t.step("without the owner's scope the model reads which scope is missing", async () => {
    const before = model.requests.length;
    const { task_id } = await ask(bare, {});
    const { output } = await untilTask(sql, task_id, "completed");

    assert.match(String(output), /Cannot call 'enhance_prompt'.* the scope chat:write/);
    assert.equal(model.requests.length, before);
    const steps = await sql`
      select state, output ->> 'error_code' as code from public.task_steps
      where task_id = ${task_id} and kind = 'tool'`;
    assert.deepEqual(steps.map((row) => ({ ...row })), [
      { state: "failed", code: "INSUFFICIENT_SCOPE" },
    ]);
  });

  await t.step("another user's conversation is refused when the task is created", async () => {
    const conversationId = await converse(ada);
    const { error, response } = await bare.user.client.functions.invoke("supaswarm-create-task", {
      body: { agent: "chatter", input: "Read it", metadata: { conversation_id: conversationId } },
    });

    assert.equal(response?.status, 404);
    assert.equal((await response?.json()).error.code, "CONVERSATION_NOT_FOUND");
    assert.ok(error);
    assert.deepEqual(await messagesOf(ada, conversationId), []);
    assert.deepEqual(await messagesOf(bare, conversationId), []);
  });
});
