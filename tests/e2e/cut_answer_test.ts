import assert from "node:assert/strict";
import {
  type BaseEvent,
  type ChatTransport,
  loadAgUi,
  loadAiSdk,
  type UIMessage,
} from "../deps.ts";
import { createSwarm } from "../../client/mod.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addTool, grantToEveryone } from "./operator.ts";
import { PageChat, textOf } from "./page_chat.ts";
import { startWireModel, type Wire, WIRES } from "./wire_model.ts";

const NOTE = { name: "cut-notes__cut_note", argumentsText: "{}" };
const CUT = { calls: [NOTE], stop: "length" } as const;

Deno.test("an answer that the output limit has cut is not taken for a whole one", async (t) => {
  const { DefaultChatTransport } = await loadAiSdk();
  const { HttpAgent, EventSchemas } = await loadAgUi();
  await using platform = await sharedPlatform();
  const { sql, project } = platform;
  await using model = startWireModel();
  const { user } = await platform.addUser("cut");
  const headers = {
    apikey: project.publishableKey,
    authorization: `Bearer ${user.accessToken}`,
  };
  const swarm = createSwarm(user.client);
  await sql.unsafe(`
    create table public.cut_notes (body text);
    create function public.cut_note(p_body text default 'nothing') returns text language sql
      security definer set search_path = ''
      as 'insert into public.cut_notes values (p_body) returning body';
    grant execute on function public.cut_note(text) to authenticated;`);
  const notes = await addTool(sql, {
    slug: "cut-notes",
    type: "supabase_rpc",
    config: { function: "public.cut_note" },
  });
  await grantToEveryone(sql, [notes]);
  for (const wire of WIRES) await addAgent(wire);

  async function addAgent(wire: Wire) {
    const api = wire === "responses" ? "openai" : wire;
    const providerTools = wire === "responses" ? ["web_search"] : [];
    await sql`
      with provider as (
        insert into public.llm_providers
          (name, display_name, api, base_url, default_model, requires_api_key)
        values (${`cut-${wire}`}, ${wire}, ${api}, ${model.baseUrlOf(wire)}, 'some-model', false)
        returning id
      ), agent as (
        insert into public.agents
          (name, slug, system_prompt, provider_id, max_tokens, max_continuations, provider_tools)
        select ${`cut-${wire}`}, ${`cut-${wire}`}, 'You are a test.', id, 64, 1,
          array(select jsonb_array_elements_text(${sql.json(providerTools)}))
        from provider returning id
      )
      insert into public.agent_tools (agent_id, tool_id) select id, ${notes}::uuid from agent`;
  }
  const notesWritten = async () =>
    (await sql`delete from public.cut_notes returning body`).map(({ body }) => body);
  const run = async (wire: Wire) => await swarm.run(`cut-${wire}`, "Write it");
  const transportOf = (wire: Wire): ChatTransport<UIMessage> =>
    new DefaultChatTransport({
      api: `${project.apiUrl}/functions/v1/supaswarm-chat/cut-${wire}`,
      headers,
    });

  for (const wire of WIRES) {
    await t.step(
      `${wire}: a cut call does not run, and the whole one that follows does`,
      async () => {
        model.play(
          CUT,
          { calls: [{ ...NOTE, argumentsText: '{"p_body":"all of it"}' }] },
          { text: "Written." },
        );
        const job = await run(wire);

        assert.equal(await job.result(), "Written.");
        assert.deepEqual(await notesWritten(), ["all of it"]);
        assert.equal(model.bodies.length, 3);
        assert.match(JSON.stringify(model.bodies[1]), /cut at the output limit of 64 tokens/);
        assert.deepEqual(await job.warnings(), []);
      },
    );

    await t.step(
      `${wire}: a call that is cut twice ends the job with a code of its own`,
      async () => {
        model.play(CUT);
        const job = await run(wire);

        await assert.rejects(job.result(), { code: "MODEL_OUTPUT_CUT" });
        assert.deepEqual(await notesWritten(), []);
        assert.equal(model.bodies.length, 2);
      },
    );

    await t.step(`${wire}: a cut text is continued, and stands once in the chat`, async () => {
      model.play({ text: "One, ", stop: "length" }, { text: "two.\n" });
      const page = new PageChat({ id: crypto.randomUUID(), transport: transportOf(wire) });
      await page.sendMessage({ text: "Count" });

      assert.equal(page.error, undefined);
      assert.equal(page.text, "One, two.");
      assert.match(JSON.stringify(model.bodies[1]), /Continue it exactly where it stopped/);
    });

    await t.step(`${wire}: a text that stays cut completes with a warning`, async () => {
      model.play({ text: "and on ", stop: "length" });
      const job = await run(wire);

      assert.equal(await job.result(), "and on and on");
      const [warning] = await job.warnings();
      assert.deepEqual([warning?.code, warning?.step_seq], ["MODEL_OUTPUT_CUT", 2]);
      const answers = [];
      for await (const { type, data } of swarm.job(job.id)) {
        if (type === "model.completed") answers.push([data.finish_reason, data.continues]);
        if (type === "task.completed") assert.deepEqual(data.warnings, [warning]);
      }
      assert.deepEqual(answers, [["length", undefined], ["length", 1]]);
    });
  }

  await t.step("the chat says that an answer stayed cut, also after a reload", async () => {
    model.play({ text: "and on ", stop: "length" });
    const reasons: unknown[] = [];
    const id = crypto.randomUUID();
    const page = new PageChat({
      id,
      transport: transportOf("openai"),
      onFinish: ({ finishReason }) => void reasons.push(finishReason),
    });
    await page.sendMessage({ text: "Count" });

    assert.deepEqual(reasons, ["length"]);
    const textIn = (message: UIMessage | undefined) =>
      message?.parts.find(({ type }) => type === "text");
    const expected = {
      type: "text",
      text: "and on and on",
      state: "done",
      providerMetadata: { supaswarm: { is_partial: true } },
    };
    assert.deepEqual(textIn(page.lastMessage), expected);
    const [, stored] = await swarm.chat("cut-openai").messages(id);
    assert.deepEqual(textIn(stored), expected);
  });

  await t.step("AG-UI says that an answer stayed cut", async () => {
    model.play({ text: "and on ", stop: "length" });
    const events: BaseEvent[] = [];
    const agent = new HttpAgent({
      url: `${project.apiUrl}/functions/v1/supaswarm-chat/cut-openai/ag-ui`,
      headers,
      threadId: crypto.randomUUID(),
    });
    agent.subscribe({
      onEvent: ({ event }) => {
        EventSchemas.parse(event);
        events.push(event);
      },
    });
    agent.addMessage({ id: "u1", role: "user", content: "Count" });
    const { newMessages } = await agent.runAgent();

    assert.deepEqual(newMessages.map(({ content }) => content), ["and on and on"]);
    const custom = events.filter(({ type }) => type === "CUSTOM");
    assert.deepEqual(custom, [{ type: "CUSTOM", name: "finish-reason", value: "length" }]);
    assert.equal(events.at(-1)?.type, "RUN_FINISHED");
  });

  for (const text of ["Done.\n", "\n\n Done.", " Done. \n", '{"done": true}\n']) {
    await t.step(`an answer ${JSON.stringify(text)} stands once, also after a reload`, async () => {
      for (const wire of WIRES) {
        model.play({ text });
        const id = crypto.randomUUID();
        const page = new PageChat({ id, transport: transportOf(wire) });
        await page.sendMessage({ text: "Do it" });

        const [, stored] = await swarm.chat(`cut-${wire}`).messages(id);
        assert.deepEqual([page.text, textOf(stored)], [text.trim(), text.trim()], wire);
      }
    });
  }
});
