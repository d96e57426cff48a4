import assert from "node:assert/strict";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { abandon, startDoomedWorker } from "./dying_store.ts";
import {
  answered,
  ask,
  type ModelTurn,
  Swarm,
  type TestWorker,
  type WorkerParts,
} from "./swarm_fixture.ts";

/** A model that gives these answers one after the other, and then the last one again. */
function answering(...turns: readonly ModelTurn[]) {
  const calls: TaskModelCall[] = [];
  const model = (call: TaskModelCall): ModelTurn => {
    calls.push(call);
    return turns[calls.length - 1] ?? turns.at(-1) ?? {};
  };
  return { calls, model };
}

const tools = [toolNamed("pay"), toolNamed("read", { isReadOnly: true })];

/** Tools that record the arguments of each call. */
function counting() {
  const made: JsonObject[] = [];
  const callTool: WorkerParts["callTool"] = ({ arguments: given }) => {
    made.push(given);
    return answered("fine");
  };
  return { made, callTool };
}

async function warningsOf(swarm: Swarm, taskId: string) {
  const [row] = await swarm.sql`select warnings from public.tasks where id = ${taskId}::uuid`;
  return row?.warnings as { code: string; tool?: string; message: string; step_seq: number }[];
}

async function eventOf(swarm: Swarm, taskId: string, type: string): Promise<JsonObject> {
  const [row] = await swarm.sql`
    select private.event_data(task_id, type, payload) as data from public.task_events
    where task_id = ${taskId}::uuid and type = ${type} order by id limit 1`;
  return row?.data;
}

Deno.test("a turn that is cut at the output limit is never taken for a whole one", async (t) => {
  const swarm = await Swarm.open();
  await swarm.sql`
    insert into public.model_windows (provider_id, model_prefix, window_tokens, max_output_tokens)
    values (null, 'script', 128000, 9000)`;
  await swarm.sql`update public.agents set max_tokens = 500 where slug = 'test-planner'`;
  const run = async (parts: WorkerParts, taskId: string, status: string) => {
    const worker = swarm.startWorker(parts);
    const task = await swarm.until(taskId, status);
    await worker.stop();
    return task;
  };
  try {
    await t.step("no call of a cut turn runs, and the model is asked again", async () => {
      const { made, callTool } = counting();
      const { calls, model } = answering(
        {
          text: "Now:",
          calls: [
            ask("pay", {}),
            ask("read", { page: 1 }),
            ask("create_subtask", { agent: "test-reader", input: "Read" }),
            ask("request_human_review", { question: "Really?" }),
            ask("save_intermediate_data", { key: "a", value: 1 }),
            ask("complete_task", { output: "Half" }),
          ],
          cutAtTokens: 500,
        },
        { calls: [ask("pay", { amount: 5 })] },
        { text: "Paid." },
      );
      const taskId = await swarm.createTask();

      const task = await run({ model, tools, callTool }, taskId, "completed");

      assert.equal(task.output, "Paid.");
      assert.deepEqual(made, [{ amount: 5 }]);
      assert.deepEqual(task.intermediate_data, {});
      assert.deepEqual(calls.map(({ context }) => context.agent?.max_tokens), [500, 9_000, 500]);
      assert.deepEqual(calls.map((call) => call.hasOptionalLimit), [false, true, false]);
      const results = calls[1]?.prompt.messages.filter(({ role }) => role === "tool") ?? [];
      assert.equal(results.length, 6);
      for (const { text } of results) assert.match(text, /was cut at the output limit of 500/);
      const steps = (await swarm.steps(taskId)).slice(1, 7);
      assert.deepEqual(new Set(steps.map(({ state }) => state)), new Set(["failed"]));
      const events = await swarm.events(taskId);
      assert.ok(!events.some((type) => /subtask|review|data/.test(type)), events.join());
      const answer = await eventOf(swarm, taskId, "model.completed");
      assert.deepEqual([answer.finish_reason, answer.cut_at_tokens], ["length", 500]);
      assert.equal((await eventOf(swarm, taskId, "tool.failed")).error_code, "MODEL_OUTPUT_CUT");
      // `pay` has succeeded since, `read` has not.
      const warnings = await warningsOf(swarm, taskId);
      assert.deepEqual(warnings.map(({ code, tool }) => [code, tool]), [[
        "MODEL_OUTPUT_CUT",
        "read",
      ]]);
    });

    await t.step("a turn that is cut again fails the task", async () => {
      const { made, callTool } = counting();
      const { calls, model } = answering({ calls: [ask("pay", {})], cutAtTokens: 500 });
      const taskId = await swarm.createTask();

      const task = await run({ model, tools, callTool }, taskId, "failed");

      assert.equal(task.error?.code, "MODEL_OUTPUT_CUT");
      assert.deepEqual([made.length, calls.length], [0, 2]);
      const warnings = await warningsOf(swarm, taskId);
      assert.deepEqual(warnings.map(({ tool }) => tool), [undefined, "pay"]);

      await swarm.sql`select public.retry_task(${taskId}::uuid)`;
      const again = answering({ text: "Without paying." });
      const retried = await run({ model: again.model }, taskId, "completed");
      assert.equal(retried.output, "Without paying.");
      assert.equal(again.calls.length, 1);
      assert.deepEqual((await warningsOf(swarm, taskId)).map(({ tool }) => tool), ["pay"]);
    });

    await t.step("reasoning that uses all the room is asked again, then fails", async () => {
      const { calls, model } = answering({ text: "", cutAtTokens: 500 });
      const taskId = await swarm.createTask();

      const task = await run({ model }, taskId, "failed");

      assert.equal(task.error?.code, "MODEL_OUTPUT_CUT");
      assert.equal(calls.length, 2);
    });

    await t.step("a cut text is continued, without the words that the model repeats", async () => {
      const { calls, model } = answering(
        { text: "The quick brown fox jumps ", cutAtTokens: 500 },
        { text: "brown fox jumps over the lazy ", cutAtTokens: 500 },
        { text: "dog.\n" },
      );
      const taskId = await swarm.createTask();

      const task = await run({ model }, taskId, "completed");

      assert.equal(task.output, "The quick brown fox jumps over the lazy dog.");
      assert.deepEqual(await warningsOf(swarm, taskId), []);
      assert.deepEqual(calls.map(({ context }) => context.agent?.max_tokens), [500, 500, 500]);
      assert.match(calls[2]?.prompt.messages.at(-1)?.text ?? "", /exactly where it stopped/);
      const continued = await swarm.sql`
        select payload -> 'continues' as continues from public.task_events
        where task_id = ${taskId}::uuid and type in ('model.started', 'model.completed') order by id`;
      assert.deepEqual(continued.map((row) => row.continues), [null, null, 1, 1, 2, 2]);
    });

    await t.step("the rest streams without the words that the model repeats", async () => {
      const taskId = await swarm.createTask();
      await swarm.watch(taskId);
      const { calls, model } = answering(
        { text: "The quick brown fox ", cutAtTokens: 500 },
        { text: "brown fox jumps." },
      );

      const worker = swarm.startWorker({
        isCpuLimited: false,
        model: (call) => {
          if (calls.length > 0) {
            for (const word of ["brown ", "fox ", "jumps."]) call.onDelta(word);
          }
          return model(call);
        },
      });
      const task = await swarm.until(taskId, "completed");
      await worker.stop();

      assert.equal(task.output, "The quick brown fox jumps.");
      const deltas = (await swarm.deltas(taskId)).filter(({ seq }) => seq === 2);
      assert.equal(deltas.map(({ text }) => text).join(""), "jumps.");
    });

    await t.step("a text that stays cut is the result with a warning", async () => {
      const { calls, model } = answering({ text: "and on ", cutAtTokens: 500 });
      await swarm.sql`update public.agents set max_continuations = 2 where slug = 'test-planner'`;
      const taskId = await swarm.createTask();

      const task = await run({ model }, taskId, "completed");

      assert.equal(task.output, "and on and on and on");
      assert.equal(calls.length, 3);
      const [warning] = await warningsOf(swarm, taskId);
      assert.deepEqual([warning?.code, warning?.step_seq], ["MODEL_OUTPUT_CUT", 3]);
      assert.match(warning?.message ?? "", /output limit of 500 tokens/);
      const { warnings } = await eventOf(swarm, taskId, "task.completed");
      assert.deepEqual(warnings, [warning]);

      await swarm.sql`select public.continue_task(${taskId}::uuid, '"Again"')`;
      const next = await run({ model: () => ({ text: "Whole." }) }, taskId, "completed");
      assert.equal(next.output, "Whole.");
      assert.deepEqual(await warningsOf(swarm, taskId), []);
    });

    await t.step(
      "what could not be read of an answer is a warning, and no model reads it",
      async () => {
        const { calls, model } = answering(
          { calls: [ask("read", {})], unread: ["a part of type chart"] },
          { text: "Done.", unread: ["its audio"] },
        );
        const taskId = await swarm.createTask();

        const task = await run(
          { model, tools, callTool: counting().callTool },
          taskId,
          "completed",
        );

        assert.equal(task.output, "Done.");
        assert.ok(!JSON.stringify(calls[1]?.prompt.messages).includes("chart"));
        const [warning, ...others] = await warningsOf(swarm, taskId);
        assert.deepEqual([warning?.code, others.length], ["MODEL_OUTPUT_INVALID", 0]);
        assert.match(warning?.message ?? "", /could not be read: its audio$/);
      },
    );

    await t.step("a typed result is continued, and fails if it stays cut", async () => {
      const outputSchema = { type: "object", properties: { ok: { type: "boolean" } } };
      const continued = await swarm.createTask("Go", "test-planner", undefined, { outputSchema });
      const { calls, model } = answering(
        { text: '{"ok": tr', cutAtTokens: 500 },
        { text: "ue}" },
      );
      assert.deepEqual((await run({ model }, continued, "completed")).output, { ok: true });
      assert.deepEqual(calls.map(({ prompt }) => prompt.output !== undefined), [true, false]);

      const cut = await swarm.createTask("Go", "test-planner", undefined, { outputSchema });
      const stays = answering({ text: '{"ok": tr', cutAtTokens: 500 });
      const { error } = await run({ model: stays.model }, cut, "failed");
      assert.equal(error?.code, "MODEL_OUTPUT_CUT");
      assert.equal(stays.calls.length, 3);
    });
  } finally {
    await swarm.close();
  }
});

Deno.test("a summary that was cut is not used, costs what it cost, and is made again", async () => {
  const swarm = await Swarm.open();
  try {
    await swarm.sql`
      insert into public.model_windows (provider_id, model_prefix, window_tokens)
      values (null, 'script', 12000)`;
    let summaryCount = 0;
    const prompts: string[] = [];
    const worker = swarm.startWorker({
      tools,
      callTool: () => answered("lorem ipsum ".repeat(115)),
      model: ({ prompt }) => {
        if (prompt.tools.length === 0) {
          return summaryCount++ === 0
            ? { text: "Half a summ", cutAtTokens: 100 }
            : { text: "A whole summary" };
        }
        prompts.push(JSON.stringify(prompt.messages));
        return summaryCount > 0 ? { text: "Read." } : { calls: [ask("read", { page: 1 })] };
      },
    });
    const taskId = await swarm.createTask();
    const task = await swarm.until(taskId, "completed");
    await worker.stop();

    assert.equal(task.output, "Read.");
    assert.equal(summaryCount, 2);
    assert.match(prompts.at(-1) ?? "", /A whole summary/);
    assert.ok(prompts.every((prompt) => !prompt.includes("Half a summ")));
    const [retried] = await swarm.sql`
      select payload #>> '{error,code}' as code from public.task_events
      where task_id = ${taskId}::uuid and type = 'task.retried'`;
    assert.equal(retried?.code, "MODEL_OUTPUT_CUT");
    const booked = await swarm.sql`
      select step_seq from public.usage_events where task_id = ${taskId}::uuid`;
    assert.equal(booked.length, prompts.length + summaryCount);
  } finally {
    await swarm.close();
  }
});

Deno.test("a worker that dies around a cut turn changes nothing of what follows", async (t) => {
  const swarm = await Swarm.open();
  const abandoned: TestWorker[] = [];
  try {
    for (const fatal of [0, 1, 2]) {
      await t.step(`at write ${fatal + 1}`, async () => {
        const { made, callTool } = counting();
        const model = ({ prompt: { messages } }: TaskModelCall): ModelTurn => {
          const said = messages.filter(({ role }) => role === "assistant").map(({ text }) => text);
          if (said.length === 0) return { calls: [ask("pay", {})], cutAtTokens: 100 };
          if (said.length === 1) return { text: "One, ", cutAtTokens: 100 };
          return { text: "two." };
        };
        const parts = { model, tools, callTool };
        const doomed = startDoomedWorker(swarm, parts, fatal);
        abandoned.push(doomed);
        const taskId = await swarm.createTask();
        await doomed.died;
        doomed.kill();
        await swarm.endLease(taskId);

        const rescuer = swarm.startWorker(parts);
        const task = await swarm.until(taskId, "completed");
        await rescuer.stop();

        assert.equal(task.output, "One, two.");
        assert.deepEqual(made, []);
        const steps = await swarm.steps(taskId);
        assert.deepEqual(steps.map(({ kind, state }) => `${kind} ${state}`), [
          "model done",
          "tool failed",
          "model done",
          "model done",
        ]);
        const inputs = await swarm.sql`
          select input from public.task_steps
          where task_id = ${taskId}::uuid and kind = 'model' order by seq`;
        assert.deepEqual(inputs.map(({ input }) => input), [
          null,
          { max_tokens: null },
          { continues: 3, max_tokens: null },
        ]);
      });
    }
  } finally {
    await abandon(abandoned);
    await swarm.close();
  }
});
