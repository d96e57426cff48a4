import assert from "node:assert/strict";
import { createSwarm, type SupabaseLike } from "../../client/mod.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import type { ChatTransport, UIMessage } from "../deps.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent, addProvider } from "./operator.ts";
import { PageChat, textOf } from "./page_chat.ts";
import { type AskedMessage, startPacedTextModel } from "./paced_text_model.ts";
import { call, complete, scriptTurns } from "./script.ts";
import { untilTask } from "./task_view.ts";

const ASKER = scriptTurns(
  "chat-asker",
  call("request_human_review", { question: "When?", options: ["now", "later"] }),
  complete("Published."),
);

/** Three pieces for each message of the user. */
function answerOf(messages: readonly AskedMessage[], calls: number): readonly string[] {
  const texts = messages.filter(({ role }) => role === "user").map(({ content }) =>
    String(content)
  );
  const last = texts.at(-1) ?? "";
  return [`Answer ${texts.length} `, `to ${/\w+!/.exec(last)?.[0]} `, `(call ${calls}).`];
}

Deno.test("useChat's own chat speaks to durable jobs", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  await using model = startPacedTextModel(answerOf);
  await addProvider(sql, { name: "chat-paced", baseUrl: model.baseUrl });
  await addAgent(sql, { slug: "chat-paced", provider: "chat-paced" });
  stack.models.addAgent(ASKER);
  await addAgent(sql, { slug: "chat-asker" });
  const { user } = await platform.addUser("chat");
  const swarm = createSwarm(user.client);
  // The types of the AI SDK accept the client's transport.
  const transport: ChatTransport<UIMessage> = swarm.chat("chat-paced");
  const open = (id: string, messages: UIMessage[] = []) =>
    new PageChat({ id, transport, messages });
  const stored = (id: string): Promise<UIMessage[]> => swarm.chat("chat-paced").messages(id);
  /** Whether it streams: a worker with little CPU left, as on a busy machine, does not. */
  const streams = async (chat: PageChat, text: string, from = model): Promise<boolean> => {
    await chat.untilText((shown) => shown.startsWith(text) || !from.streams);
    return from.streams;
  };
  try {
    const id = crypto.randomUUID();
    const page = open(id);
    const newestJob = async () => {
      const [row] = await sql`
        select id from public.tasks where metadata ->> 'chat_id' = ${id}
        order by created_at desc limit 1`;
      return String(row?.id);
    };

    await t.step("a message starts a job, and its answer streams", async () => {
      const sending = page.sendMessage({ text: "one!" });
      await waitFor(() => model.calls === 1, { what: "the model's first call" });
      model.release(1);
      if (await streams(page, "Answer 1")) assert.equal(page.status, "streaming");
      model.release(2);
      await sending;
      assert.equal(page.error, undefined);
      assert.equal(page.text, "Answer 1 to one! (call 1).");
      assert.equal(page.status, "ready");
    });

    await t.step("the next message continues the same job", async () => {
      model.release(3);
      await page.sendMessage({ text: "two!" });
      assert.equal(page.text, "Answer 2 to two! (call 2).");
      const [row] = await sql`
        select count(*)::int as jobs from public.tasks where metadata ->> 'chat_id' = ${id}`;
      assert.equal(row?.jobs, 1);
    });

    await t.step("the stored chat has the messages that the page shows", async () => {
      assert.deepEqual(comparable(await stored(id)), comparable(page.messages));
    });

    await t.step("another version of an answer is a fork with the earlier messages", async () => {
      model.release(3);
      await page.regenerate();
      assert.equal(page.text, "Answer 2 to two! (call 3).");
      assert.deepEqual(comparable(await stored(id)), comparable(page.messages));
      const [row] = await sql`
        select count(*)::int as jobs from public.tasks where metadata ->> 'chat_id' = ${id}`;
      assert.equal(row?.jobs, 2);
    });

    await t.step("an edited message replaces what followed it", async () => {
      const second = page.messages[2]?.id ?? "";
      model.release(3);
      await page.sendMessage({ text: "deux!", messageId: second });
      assert.equal(page.text, "Answer 2 to deux! (call 4).");
      const first = page.messages[0]?.id ?? "";
      model.release(3);
      await page.sendMessage({ text: "un!", messageId: first });
      assert.equal(page.text, "Answer 1 to un! (call 5).");
      assert.equal(page.messages.length, 2);
      assert.deepEqual(comparable(await stored(id)), comparable(page.messages));
    });

    await t.step("a page that opens in the middle of an answer gets all of it", async () => {
      const calls = model.calls;
      const sending = page.sendMessage({ text: "three!" });
      await waitFor(() => model.calls > calls, { what: "the model's call" });
      model.release(1);
      await streams(page, "Answer 2");
      const again = swarm.chat("chat-paced");
      const reloaded = new PageChat({
        id,
        transport: again as ChatTransport<UIMessage>,
        messages: await again.messages(id),
      });
      assert.equal(reloaded.messages.at(-1)?.role, "user");
      const resuming = reloaded.resumeStream();
      model.release(2);
      await Promise.all([sending, resuming]);
      assert.deepEqual(comparable(reloaded.messages), comparable(page.messages));
      assert.equal(await transport.reconnectToStream({ chatId: id }), null);
    });

    await t.step("a page that stops ends the job, and keeps what was written", async () => {
      const calls = model.calls;
      const sending = page.sendMessage({ text: "four!" });
      await waitFor(() => model.calls > calls, { what: "the model's call" });
      model.release(1);
      const hasText = await streams(page, "Answer 3");
      await page.stop();
      await sending;
      const jobId = await newestJob();
      await untilTask(sql, jobId, "cancelled");
      model.cut();
      if (!hasText) return;
      const last = (await stored(id)).at(-1);
      assert.equal(textOf(last), "Answer 3 ");
      const [text] = last?.parts.filter(({ type }) => type === "text") ?? [];
      assert.deepEqual((text as { providerMetadata?: unknown }).providerMetadata, {
        supaswarm: { is_partial: true },
      });
      const [step] = await sql`
        select output from public.task_steps where task_id = ${jobId}::uuid and state = 'started'`;
      assert.deepEqual(step?.output, { text: "Answer 3 ", is_partial: true });
    });

    await t.step("a stopped chat takes the next message", async () => {
      model.release(3);
      await page.sendMessage({ text: "five!" });
      assert.match(page.text, /^Answer 4 to five!/);
      assert.deepEqual(
        (await stored(id)).map(textOf).slice(-1),
        page.messages.map(textOf).slice(-1),
      );
    });

    await t.step("a message to a page that lost its answer is not sent twice", async () => {
      let losses = 0;
      const lossy = createSwarm(losingAnswers(user.client, (name) => {
        return name === "continue_task" && losses++ < 2;
      }));
      const chat = new PageChat({
        id,
        transport: lossy.chat("chat-paced") as ChatTransport<UIMessage>,
        messages: await stored(id),
      });
      model.release(3);
      await chat.sendMessage({ text: "six!" });
      assert.match(chat.text, /^Answer 5 to six!/);
      assert.equal(losses, 1, "the second attempt sees that the first was heard");
    });

    await t.step("a message that another page sends meanwhile is not sent twice", async () => {
      const messages = await stored(id);
      const question: UIMessage = {
        id: "seven",
        role: "user",
        parts: [{ type: "text", text: "seven!" }],
      };
      const calls = model.calls;
      // Enough for a second answer, so that one would be counted.
      model.release(6);
      let isSent = false;
      const late = createSwarm(beforeCalls(user.client, "continue_task", async () => {
        if (isSent) return;
        isSent = true;
        await new PageChat({ id, messages, transport }).sendMessage(question);
      }));
      const chat = new PageChat({
        id,
        messages,
        transport: late.chat("chat-paced") as ChatTransport<UIMessage>,
      });
      await chat.sendMessage(question);
      assert.match(chat.text, /^Answer 6 to seven!/);
      assert.ok(isSent);
      assert.equal(model.calls, calls + 1);
    });

    await t.step("a review is a part that waits for an approval", async () => {
      const asking = new PageChat({
        id: crypto.randomUUID(),
        transport: swarm.chat("chat-asker") as ChatTransport<UIMessage>,
      });
      await asking.sendMessage({ text: "Publish it" });
      const part = asking.lastMessage?.parts.find(({ type }) => type === "dynamic-tool");
      assert.ok(part?.type === "dynamic-tool" && part.state === "approval-requested");
      assert.equal(part.toolName, "request_human_review");
      assert.equal(asking.status, "ready");
      assert.deepEqual(
        comparable(await swarm.chat("chat-asker").messages(asking.id)),
        comparable(asking.messages),
      );

      await asking.addToolApprovalResponse({ id: part.approval.id, approved: true, reason: "now" });
      await asking.untilText((text) => text === "Published.");
      assert.equal(asking.messages.length, 2);
      const answered = asking.lastMessage?.parts.find(({ type }) => type === "dynamic-tool");
      assert.ok(answered?.type === "dynamic-tool" && answered.state === "output-available");
      assert.deepEqual(answered.output, {
        approved: true,
        response: { choice: "now" },
        comments: null,
      });
    });

    await t.step("a call that is cut and answers otherwise marks what it replaces", async () => {
      await using cut = startPacedTextModel((_, call) =>
        call === 1 ? ["The cut", " text."] : ["All."]
      );
      await addProvider(sql, { name: "chat-cut", baseUrl: cut.baseUrl });
      await addAgent(sql, { slug: "chat-cut", provider: "chat-cut" });
      const chat = new PageChat({
        id: crypto.randomUUID(),
        transport: swarm.chat("chat-cut") as ChatTransport<UIMessage>,
      });
      const sending = chat.sendMessage({ text: "Go" });
      cut.release(1);
      await waitFor(() => cut.calls === 1, { what: "the model's call" });
      const hasText = await streams(chat, "The cut", cut);
      cut.release(1);
      if (hasText) cut.cut();
      await sending;
      if (!hasText) return;
      const [first, second] = chat.lastMessage?.parts.filter(({ type }) => type === "text") ?? [];
      assert.deepEqual(first, {
        type: "text",
        text: "The cut",
        state: "done",
        providerMetadata: { supaswarm: { is_partial: true } },
      });
      assert.equal(second?.type === "text" && second.text, "All.");
      const messages = await swarm.chat("chat-cut").messages(chat.id) as UIMessage[];
      assert.equal(textOf(messages.at(-1)), "All.", "the stored message has only the whole answer");
    });

    await t.step("an input with one text is stored as this text", async () => {
      stack.models.addAgent(scriptTurns("chat-questions", complete("Yes.")));
      await addAgent(sql, { slug: "chat-questions" });
      const questions = swarm.chat("chat-questions", {
        input: (message) => ({ question: textOf(message as UIMessage) }),
      });
      const chat = new PageChat({
        id: crypto.randomUUID(),
        transport: questions as ChatTransport<UIMessage>,
      });
      await chat.sendMessage({ text: "Is it open?" });
      const messages = await questions.messages(chat.id) as UIMessage[];
      assert.deepEqual(messages.map(textOf), ["Is it open?", "Yes."]);
    });

    await t.step("a failed job is an error of the chat", async () => {
      const failing = open(crypto.randomUUID());
      const wrong = new PageChat({
        id: failing.id,
        transport: swarm.chat("chat-nobody") as ChatTransport<UIMessage>,
      });
      await wrong.sendMessage({ text: "Hello" });
      assert.equal(wrong.status, "error");
      assert.match(wrong.error?.message ?? "", /chat-nobody/);
    });
  } finally {
    await user.client.realtime.disconnect();
  }
});

/** The same client, some of whose calls lose their answer. */
function losingAnswers(supabase: SupabaseLike, isLost: (name: string) => boolean): SupabaseLike {
  const lost = { data: null, error: { message: "TypeError: fetch failed" }, status: 0 };
  return withCalls(
    supabase,
    (name, send) => isLost(name) ? Promise.resolve(send()).then(() => lost) : null,
  );
}

/** The same client, whose calls of one function wait until `before` resolves. */
function beforeCalls(
  supabase: SupabaseLike,
  waiting: string,
  before: () => Promise<void>,
): SupabaseLike {
  return withCalls(supabase, (name, send) => name === waiting ? before().then(send) : null);
}

/** @param answer The answer of a call; null for the client's own. */
function withCalls(
  supabase: SupabaseLike,
  answer: (name: string, send: () => PromiseLike<unknown>) => Promise<unknown> | null,
): SupabaseLike {
  return new Proxy(supabase, {
    get(client, key) {
      const value: unknown = Reflect.get(client, key);
      if (key !== "rpc") return typeof value === "function" ? value.bind(client) : value;
      return (name: string, args: object) => {
        const send = () => client.rpc(name, args) as PromiseLike<unknown>;
        const answered = answer(name, send);
        if (answered === null) return send();
        return Object.assign(answered, { abortSignal: () => answered });
      };
    },
  });
}

/** Messages without the ids that a page gives to its own. */
function comparable(messages: readonly UIMessage[]): unknown {
  return JSON.parse(JSON.stringify(messages.map(({ id, role, parts, metadata }) => ({
    id: role === "assistant" ? id : null,
    role,
    parts: parts.map((part) =>
      part.type === "text" && part.providerMetadata === undefined
        ? { type: part.type, text: part.text }
        : part
    ),
    metadata: role === "assistant" ? metadata : null,
  }))));
}
