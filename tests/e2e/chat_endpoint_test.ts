import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import {
  type BaseEvent,
  type ChatTransport,
  type ContentPart,
  loadAgUi,
  loadAiSdk,
  type RunAgentInput,
  type UIMessage,
} from "../deps.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent, addProvider } from "./operator.ts";
import { PageChat } from "./page_chat.ts";
import { type AskedMessage, startPacedTextModel } from "./paced_text_model.ts";
import { call, complete, scriptTurns } from "./script.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const ASKER = scriptTurns(
  "endpoint-asker",
  call("request_human_review", { question: "When?", options: ["now", "later"] }),
  complete("Published."),
);

/** The messages of the newest call. */
let newest: readonly AskedMessage[] = [];

function answerOf(messages: readonly AskedMessage[], calls: number): readonly string[] {
  newest = messages;
  const count = messages.filter(({ role }) => role === "user").length;
  return [`Answer ${count} `, `of call `, `${calls}.`];
}

Deno.test("supaswarm-chat speaks the AI SDK's stream and AG-UI", async (t) => {
  const { DefaultChatTransport, uiMessageChunkSchema } = await loadAiSdk();
  const { HttpAgent, EventSchemas, AgentCapabilitiesSchema } = await loadAgUi();
  await using platform = await sharedPlatform();
  const { sql, stack, project } = platform;
  await using model = startPacedTextModel(answerOf);
  await addProvider(sql, { name: "endpoint-paced", baseUrl: model.baseUrl });
  await addAgent(sql, { slug: "endpoint-paced", provider: "endpoint-paced" });
  stack.models.addAgent(ASKER);
  await addAgent(sql, { slug: "endpoint-asker" });
  const { id: userId, user } = await platform.addUser("endpoint");
  const stranger = (await platform.addUser("endpoint-stranger")).user;
  const headersOf = ({ accessToken }: { readonly accessToken: string }) => ({
    apikey: project.publishableKey,
    authorization: `Bearer ${accessToken}`,
  });
  const headers = headersOf(user);
  const api = (agent: string) => `${project.apiUrl}/functions/v1/supaswarm-chat/${agent}`;
  const paced = api("endpoint-paced");
  const transportOf = (agent: string): ChatTransport<UIMessage> =>
    new DefaultChatTransport({ api: api(agent), headers });
  const callsOf = (count: number) =>
    waitFor(() => model.calls === count, { what: `call ${count} of the model` });
  const firstPiece = (chat: PageChat, text: string) =>
    waitFor(() => chat.text.startsWith(text) || !model.streams, { what: "the first piece" });
  const chatId = crypto.randomUUID();
  const page = new PageChat({ id: chatId, transport: transportOf("endpoint-paced") });

  await t.step("the AI SDK's own transport starts a job, and the answer streams", async () => {
    const sending = page.sendMessage({ text: "one" });
    await callsOf(1);
    model.release(1);
    await firstPiece(page, "Answer 1");
    model.release(2);
    await sending;
    assert.equal(page.error, undefined);
    assert.equal(page.text, "Answer 1 of call 1.");
  });

  await t.step("a second page resumes in the middle, and nothing runs afterwards", async () => {
    const other = new PageChat({
      id: chatId,
      transport: transportOf("endpoint-paced"),
      messages: page.messages,
    });
    const sending = page.sendMessage({ text: "two" });
    await callsOf(2);
    model.release(1);
    await firstPiece(page, "Answer 2");
    other.messages = page.messages.slice(0, 3);
    const resuming = other.resumeStream();
    await waitFor(() => other.text.startsWith("Answer 2") || !model.streams, {
      what: "the text so far",
    });
    model.release(2);
    await Promise.all([sending, resuming]);
    assert.deepEqual(other.messages, page.messages);
    const again = await fetch(`${paced}/${chatId}/stream`, { headers });
    assert.match((await dataOf(again)).join(), /Answer 2.*DONE/, "it has just ended");
    await sql`
      update public.tasks set finished_at = finished_at - interval '2 minutes'
      where metadata ->> 'chat_id' = ${chatId}`;
    const none = await fetch(`${paced}/${chatId}/stream`, { headers });
    assert.equal(none.status, 204);
  });

  await t.step("each message of the stream is one of the AI SDK's parts", async () => {
    model.release(3);
    const response = await fetch(paced, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        id: crypto.randomUUID(),
        trigger: "submit-message",
        messages: [{ id: "a", role: "user", parts: [{ type: "text", text: "Hello" }] }],
      }),
    });
    assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const data = await dataOf(response);
    assert.equal(data.at(-1), "[DONE]");
    const schema = uiMessageChunkSchema();
    for (const part of data.slice(0, -1)) {
      const checked = await schema.validate?.(JSON.parse(part));
      assert.ok(checked?.success, part);
    }
  });

  await t.step("a request that is sent again reads the answer of the first one", async () => {
    const id = crypto.randomUUID();
    const said = (text: string) => ({ id: text, role: "user", parts: [{ type: "text", text }] });
    const send = async (...texts: string[]) => {
      const messages = texts.map(said);
      const body = JSON.stringify({ id, trigger: "submit-message", messages });
      const data = await dataOf(await fetch(paced, { method: "POST", headers, body }));
      const parts = data.slice(0, -1).map((part) => JSON.parse(part));
      return parts.map(({ type, delta }) => type === "text-delta" ? delta : "").join("");
    };
    const { calls } = model;

    model.release(3);
    const first = await send("one");
    assert.equal(await send("one"), first);
    model.release(3);
    const [second, beside] = await Promise.all([send("one", "two"), send("one", "two")]);
    assert.equal(beside, second, "also at the same time");
    assert.equal(await send("one", "two"), second);
    assert.equal(model.calls, calls + 2);

    model.release(3);
    assert.match(await send("one", "two", "two"), /Answer 3/, "the same words as a new message");
  });

  await t.step("an approval of the page answers the review, and the message goes on", async () => {
    const asking = new PageChat({
      id: crypto.randomUUID(),
      transport: transportOf("endpoint-asker"),
    });
    await asking.sendMessage({ text: "Publish it" });
    const part = asking.lastMessage?.parts.find(({ type }) => type === "dynamic-tool");
    assert.ok(part?.type === "dynamic-tool" && part.state === "approval-requested");
    await asking.addToolApprovalResponse({ id: part.approval.id, approved: true, reason: "later" });
    await asking.untilText((text) => text === "Published.");
    assert.equal(asking.messages.length, 2);
    const stored =
      await (await fetch(`${api("endpoint-asker")}/${asking.id}/messages`, { headers }))
        .json();
    assert.equal(stored.messages.length, 2);
    assert.equal(stored.has_earlier, false);
    assert.equal(stored.messages[1].id, asking.lastMessage?.id);
  });

  await t.step("a page that stops reading leaves the job, and can read on", async () => {
    const left = new PageChat({
      id: crypto.randomUUID(),
      transport: transportOf("endpoint-paced"),
    });
    const { calls } = model;
    const sending = left.sendMessage({ text: "one" });
    await callsOf(calls + 1);
    model.release(1);
    await firstPiece(left, "Answer 1");
    await left.stop();
    await sending;
    model.release(2);
    await left.resumeStream();
    assert.equal(left.text, `Answer 1 of call ${calls + 1}.`);
    assert.equal(model.calls, calls + 1);
  });

  const end = async (chat: string) => {
    const answer = await fetch(`${api("endpoint-paced")}/${chat}`, { method: "DELETE", headers });
    return await answer.json();
  };
  const statusOf = async (chat: string) => {
    const [task] = await sql`
      select status from public.tasks where metadata ->> 'chat_id' = ${chat}`;
    return task?.status;
  };

  await t.step("DELETE ends the job in the middle of the answer, and its stream", async () => {
    const stopped = new PageChat({
      id: crypto.randomUUID(),
      transport: transportOf("endpoint-paced"),
    });
    const { calls } = model;
    const sending = stopped.sendMessage({ text: "one" });
    await callsOf(calls + 1);
    model.release(1);
    await firstPiece(stopped, "Answer 1");

    assert.deepEqual(await end(stopped.id), { cancelled: 1 });
    await sending;

    assert.deepEqual([stopped.status, stopped.error], ["ready", undefined]);
    assert.equal(await statusOf(stopped.id), "cancelled");
    assert.deepEqual(await end(stopped.id), { cancelled: 0 });
    model.cut();
    model.release(3);
    await stopped.sendMessage({ text: "two" });
    assert.equal(stopped.text, `Answer 2 of call ${calls + 2}.`);
  });

  await t.step("another user's chat, an unknown path and a wrong body are refused", async () => {
    const foreign = await fetch(`${paced}/${chatId}/stream`, { headers: headersOf(stranger) });
    assert.equal(foreign.status, 204, "the stranger has no such chat");
    const anonymous = await fetch(`${paced}/${chatId}/stream`);
    assert.equal(anonymous.status, 401);
    await anonymous.body?.cancel();
    const unstorable = await fetch(`${paced}/%00/stream`, { headers });
    assert.equal(unstorable.status, 204, "there is no such chat");
    const unknown = await fetch(`${paced}/${chatId}/else`, { headers });
    assert.deepEqual([unknown.status, (await unknown.json()).error.code], [404, "CHAT_NOT_FOUND"]);
    const wrong = await fetch(paced, { method: "POST", headers, body: "{}" });
    assert.deepEqual([wrong.status, (await wrong.json()).error.code], [400, "BODY_INVALID"]);
    const nobody = await fetch(api("endpoint-nobody"), {
      method: "POST",
      headers,
      body: JSON.stringify({
        id: crypto.randomUUID(),
        messages: [{ id: "a", role: "user", parts: [{ type: "text", text: "Hello" }] }],
      }),
    });
    assert.deepEqual([nobody.status, (await nobody.json()).error.code], [404, "AGENT_NOT_FOUND"]);
  });

  await t.step("AG-UI: the capabilities say that a run can be resumed", async () => {
    const capabilities = await (await fetch(`${paced}/ag-ui`, { headers })).json();
    AgentCapabilitiesSchema.parse(capabilities);
    assert.equal(capabilities.transport.resumable, true);
  });

  const threadId = crypto.randomUUID();
  const agentOf = (slug: string, thread: string, events: BaseEvent[] = []) => {
    const agent = new HttpAgent({ url: `${api(slug)}/ag-ui`, headers, threadId: thread });
    agent.subscribe({
      onEvent: ({ event }) => {
        EventSchemas.parse(event);
        events.push(event);
      },
    });
    return agent;
  };

  await t.step("AG-UI: its own client runs the agent, and gets valid events", async () => {
    const events: BaseEvent[] = [];
    const agent = agentOf("endpoint-paced", threadId, events);
    agent.addMessage({ id: "u1", role: "user", content: "Hello" });
    model.release(3);
    const { newMessages } = await agent.runAgent();
    assert.match(String(newMessages.at(-1)?.content), /^Answer 1 of call \d+\.$/);
    const types = events.map(({ type }) => type);
    assert.deepEqual([types.at(0), types.at(-1)], ["RUN_STARTED", "RUN_FINISHED"]);
    assert.equal(agent.state.job_id.length, 36);
  });

  await t.step(
    "AG-UI: a picture in Storage reaches the model, and another one is refused",
    async () => {
      const path = `supaswarm-data/${userId}/bee.png`;
      const picture = `${project.apiUrl}/storage/v1/object/${path}`;
      const stored = await fetch(picture, {
        method: "POST",
        headers: { ...headers, "content-type": "image/png", "x-upsert": "true" },
        body: Uint8Array.from(atob(PNG), (character) => character.charCodeAt(0)),
      });
      assert.equal(stored.status, 200, await stored.text());
      const ask = async (source: Exclude<ContentPart, { type: "text" }>["source"]) => {
        const content = [{ type: "text", text: "Look" }, { type: "image", source }];
        const body: RunAgentInput = {
          threadId: crypto.randomUUID(),
          runId: "r",
          messages: [
            { id: "s", role: "system", content: "Be brief." },
            { id: "u", role: "user", content: content as ContentPart[] },
          ],
          context: [{ description: "page", value: "/settings" }],
          tools: [],
        };
        return await fetch(`${paced}/ag-ui`, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
      };

      model.release(3);
      const events = (await dataOf(await ask({ type: "url", value: picture })))
        .map((data) => JSON.parse(data));
      const refused = await ask({ type: "data", value: PNG, mimeType: "image/png" });

      assert.equal(events.at(-1).outcome.type, "success");
      const asked = JSON.stringify(newest.at(-1));
      assert.ok(asked.includes("Look") && asked.includes(PNG), asked);
      const unread = events.find(({ name }) => name === "unread");
      assert.deepEqual(unread?.value, ["context", "messages of the role system"]);
      const { error } = await refused.json();
      assert.deepEqual([refused.status, error.code], [400, "BODY_INVALID"]);
      assert.match(error.message, /its file is not in Storage/);
    },
  );

  await t.step("AG-UI: a run of the same messages reads on in the middle", async () => {
    const first = agentOf("endpoint-paced", threadId);
    const question = [
      { id: "u1", role: "user" as const, content: "Hello" },
      { id: "u2", role: "user" as const, content: "Again" },
    ];
    first.setMessages(question);
    const calls = model.calls;
    const running = first.runAgent();
    await callsOf(calls + 1);
    model.release(1);
    await waitFor(
      () => String(first.messages.at(-1)?.content).startsWith("Answer 2") || !model.streams,
      { what: "the first piece" },
    );
    const second = agentOf("endpoint-paced", threadId);
    second.setMessages(structuredClone(first.messages));
    const resumed = second.runAgent();
    await waitFor(() => second.isRunning, { what: "the second reader" });
    model.release(2);
    await Promise.all([running, resumed]);
    assert.deepEqual(second.messages, first.messages);
    assert.equal(model.calls, calls + 1, "the second run started nothing");
  });

  await t.step("AG-UI: another last message replaces the one of the thread", async () => {
    const thread = crypto.randomUUID();
    const [first, second] = [agentOf("endpoint-paced", thread), agentOf("endpoint-paced", thread)];
    first.addMessage({ id: "u1", role: "user", content: "Hello" });
    model.release(3);
    await first.runAgent();
    const { calls } = model;

    second.addMessage({ id: "u1", role: "user", content: "Good bye" });
    model.release(3);
    const { newMessages } = await second.runAgent();

    assert.equal(newMessages.at(-1)?.content, `Answer 1 of call ${calls + 1}.`);
    const stored = await (await fetch(`${paced}/${thread}/messages`, { headers })).json();
    assert.equal(stored.messages[0].parts[0].text, "Good bye");
  });

  await t.step("AG-UI: a reader that leaves leaves the job, and DELETE ends it", async () => {
    const thread = crypto.randomUUID();
    const events: BaseEvent[] = [];
    const [left, stopped] = [
      agentOf("endpoint-paced", thread),
      agentOf("endpoint-paced", thread, events),
    ];
    const question = { id: "u1", role: "user" as const, content: "Hello" };
    const { calls } = model;
    left.addMessage(question);
    const leaving = left.runAgent();
    await callsOf(calls + 1);
    left.abortRun();
    await leaving;
    stopped.addMessage(question);
    const running = stopped.runAgent();
    await waitFor(() => events.length > 0, { what: "the second reader" });

    assert.deepEqual(await end(thread), { cancelled: 1 });
    await running;

    assert.deepEqual(events.at(-1), {
      type: "RUN_FINISHED",
      threadId: thread,
      runId: (events[0] as { runId?: string }).runId,
      outcome: { type: "cancelled" },
    });
    model.cut();
    assert.equal(model.calls, calls + 1, "the second run started nothing");
  });

  await t.step("AG-UI: a review is an interrupt, and its answer resumes the run", async () => {
    const agent = agentOf("endpoint-asker", crypto.randomUUID());
    agent.addMessage({ id: "u1", role: "user", content: "Publish it" });
    await agent.runAgent();
    const [interrupt] = agent.pendingInterrupts;
    assert.equal(interrupt?.message, "When?");
    assert.equal(interrupt.reason, "review:question");
    await agent.runAgent({
      resume: [{
        interruptId: interrupt.id,
        status: "resolved",
        payload: { approved: true, choice: "now" },
      }],
    });
    assert.deepEqual(agent.pendingInterrupts, []);
    assert.equal(agent.messages.at(-1)?.content, "Published.");
    const result = agent.messages.find(({ role }) => role === "tool");
    assert.deepEqual(JSON.parse(String(result?.content)), {
      approved: true,
      response: { choice: "now" },
      comments: null,
    });
  });
});

/** The data of each message of a stream. */
async function dataOf(response: Response): Promise<string[]> {
  return [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? "");
}
