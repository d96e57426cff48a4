import assert from "node:assert/strict";
import { createSwarm } from "../../client/mod.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { loadAiSdk, loadAiSdkVue, loadVue, type UIMessage } from "../deps.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { textOf } from "../e2e/page_chat.ts";
import { startPacedTextModel } from "../e2e/paced_text_model.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { untilTask } from "../e2e/task_view.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { openPage, type TestPage } from "./open_page.ts";

const ASKER = scriptTurns(
  "vue-chat-asker",
  call("request_human_review", { question: "When?", options: ["now", "later"] }),
  complete("Published."),
);

Deno.test("the AI SDK's chat for Vue shows and steers durable jobs", async (t) => {
  await using page = await openPage();
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  await using model = startPacedTextModel((_, calls) => ["The answer ", "of call ", `${calls}.`]);
  await addProvider(sql, { name: "vue-chat", baseUrl: model.baseUrl });
  await addAgent(sql, { slug: "vue-chat", provider: "vue-chat" });
  stack.models.addAgent(ASKER);
  await addAgent(sql, { slug: "vue-chat-asker" });
  const { user } = await platform.addUser("vue-chat");
  const swarm = createSwarm(user.client);
  const untilAsked = (calls: number) =>
    waitFor(() => model.calls === calls, { what: `call ${calls} of the model` });
  const untilStreamed = async () => {
    if (model.streams) await page.untilText("newest", /^The answer/);
  };
  const jobOf = (messages: readonly UIMessage[]) =>
    (messages.at(-1)?.metadata as { job_id: string } | undefined)?.job_id;
  try {
    const id = crypto.randomUUID();

    await t.step("an answer streams into the page", async () => {
      await using shown = await openChat(page, { id, transport: swarm.chat("vue-chat") });
      const sending = shown.chat.sendMessage({ text: "Hello" });
      await untilAsked(1);
      model.release(1);
      await untilStreamed();
      if (model.streams) await page.untilText("status", "streaming");
      model.release(2);
      await sending;
      await page.untilText("newest", "The answer of call 1.");
      await page.untilText("status", "ready");
    });

    await t.step("a page that was closed in the middle reads on after it is opened", async () => {
      const transport = swarm.chat("vue-chat");
      const messages = await transport.messages(id);
      await using closed = await openChat(page, {
        id,
        messages,
        transport: swarm.chat("vue-chat", { onStop: "detach" }),
      });
      const sending = closed.chat.sendMessage({ text: "Again" });
      await untilAsked(2);
      model.release(1);
      await untilStreamed();
      await closed.chat.stop();
      await sending;
      await closed[Symbol.asyncDispose]();

      const stored = await transport.messages(id);
      await using opened = await openChat(page, { id, messages: stored, transport });
      const reading = opened.chat.resumeStream();
      await untilStreamed();
      model.release(2);
      await reading;
      await page.untilText("newest", "The answer of call 2.");
      assert.equal(opened.chat.messages.length, 4);
    });

    await t.step("stop ends the job", async () => {
      const messages = await swarm.chat("vue-chat").messages(id);
      await using shown = await openChat(page, {
        id,
        messages,
        transport: swarm.chat("vue-chat"),
      });
      const sending = shown.chat.sendMessage({ text: "Stop" });
      await untilAsked(3);
      model.release(1);
      await untilStreamed();
      const jobId = await waitFor(() => jobOf(shown.chat.messages), { what: "the job's id" });
      await shown.chat.stop();
      await sending;
      await untilTask(sql, jobId, "cancelled");
      await page.untilText("status", "ready");
    });

    await t.step("an approval answers the review, and the message goes on", async () => {
      await using shown = await openChat(page, {
        id: crypto.randomUUID(),
        transport: swarm.chat("vue-chat-asker"),
      });
      await shown.chat.sendMessage({ text: "Publish it" });
      await page.untilText("approval", /./);
      await shown.chat.addToolApprovalResponse({
        id: page.text("approval"),
        approved: true,
        reason: "later",
      });
      await page.untilText("newest", "Published.");
      assert.equal(shown.chat.messages.length, 2);
    });
  } finally {
    await user.client.realtime.disconnect();
  }
});

/** Mounts a component over a chat, as a page of Vue does. */
async function openChat(
  page: TestPage,
  options:
    & Omit<ConstructorParameters<Awaited<ReturnType<typeof loadAiSdkVue>>["Chat"]>[0], "id">
    & {
      readonly id: string;
    },
) {
  const { lastAssistantMessageIsCompleteWithApprovalResponses } = await loadAiSdk();
  const { createApp, h } = await loadVue();
  const { Chat } = await loadAiSdkVue();
  const chat = new Chat({
    ...options,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const app = createApp({
    setup: () => () => [
      h("p", { id: "status" }, chat.status),
      h("p", { id: "newest" }, textOf(chat.lastMessage)),
      h("p", { id: "approval" }, openApproval(chat.lastMessage)),
    ],
  });
  const root = page.root.ownerDocument.createElement("div");
  page.root.append(root);
  app.mount(root as never);
  return {
    chat,
    [Symbol.asyncDispose]: () => {
      app.unmount();
      root.remove();
      return Promise.resolve();
    },
  };
}

/** The id of the approval that a message waits for. */
function openApproval(message: UIMessage | undefined): string {
  const part = message?.parts.find((one) =>
    one.type === "dynamic-tool" && one.state === "approval-requested"
  );
  return part?.type === "dynamic-tool" && part.state === "approval-requested"
    ? part.approval.id
    : "";
}
