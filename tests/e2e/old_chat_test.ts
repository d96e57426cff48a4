import assert from "node:assert/strict";
import { createSwarm } from "../../client/mod.ts";
import type { ChatTransport, UIMessage } from "../deps.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent, addProvider } from "./operator.ts";
import { PageChat } from "./page_chat.ts";
import { startPacedTextModel } from "./paced_text_model.ts";

Deno.test("a chat shows its answers although retention has deleted their events and an earlier version", async (t) => {
  await using platform = await sharedPlatform();
  const { sql } = platform;
  await using model = startPacedTextModel((_, calls) => [`Answer ${calls}.`]);
  await addProvider(sql, { name: "old-chat", baseUrl: model.baseUrl });
  await addAgent(sql, { slug: "old-chat", provider: "old-chat" });
  const { user } = await platform.addUser("old-chat");
  const chat = createSwarm(user.client).chat("old-chat");
  const transport: ChatTransport<UIMessage> = chat;
  const id = crypto.randomUUID();
  const page = new PageChat({ id, transport });
  const say = async (text: string) => {
    model.release(1);
    await page.sendMessage({ text });
    assert.equal(page.error, undefined);
  };
  const shown = async () =>
    (await chat.messages(id)).map(({ parts }) =>
      parts.map(({ type, text }: { type: string; text?: string }) => type === "text" ? text : "")
        .join("")
    );
  const jobs = async () =>
    (await sql`
      select id from public.tasks where metadata ->> 'chat_id' = ${id}
      order by created_at`).map((row) => String(row.id));

  await say("one");
  await say("two");
  model.release(1);
  await page.regenerate();
  await say("three");
  const all = ["one", "Answer 1.", "two", "Answer 3.", "three", "Answer 4."];
  assert.deepEqual(await shown(), all);
  const [source = "", fork = ""] = await jobs();

  await t.step("the job from which it was forked is gone", async () => {
    await sql`delete from public.tasks where id = ${source}::uuid`;
    assert.deepEqual(await shown(), all);
  });

  await t.step("the first events of the job are gone, and of one answer a part", async () => {
    await sql`
      delete from private.task_events
      where task_id = ${fork}::uuid
        and id <= (select max(id) from private.task_events where task_id = ${fork}::uuid and type = 'task.resumed')`;
    assert.deepEqual(await shown(), all);
  });

  await t.step("all events are gone", async () => {
    await sql`delete from private.task_events where task_id = ${fork}::uuid`;
    assert.deepEqual(await shown(), all);
  });

  await t.step("an AG-UI run that reads on gets the text, and ends", async () => {
    const { project: { apiUrl, publishableKey } } = platform;
    const said = ["one", "two", "three"];
    const run = await fetch(`${apiUrl}/functions/v1/supaswarm-chat/old-chat/ag-ui`, {
      method: "POST",
      headers: {
        apikey: publishableKey,
        authorization: `Bearer ${user.accessToken}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        threadId: id,
        runId: "again",
        state: null,
        messages: said.map((content) => ({ id: content, role: "user", content })),
      }),
    });
    const events = await run.text();
    assert.match(events, /"delta":"Answer 4\."/);
    assert.match(events, /RUN_FINISHED/);
  });
});
