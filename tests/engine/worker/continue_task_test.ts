import assert from "node:assert/strict";
import type { ModelMessage } from "../../../shared/models/llm/model_port.ts";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import { answered, ask, Swarm } from "./swarm_fixture.ts";

const continueTask = (swarm: Swarm, taskId: string, input: string) =>
  swarm.sql`select public.continue_task(${taskId}::uuid, ${swarm.sql.json(input)}) as status`;

const shown = (messages: readonly ModelMessage[]) =>
  messages.map((message) => `${message.role}: ${message.text}`);

Deno.test("a follow-up continues the task's transcript", async (t) => {
  const swarm = await Swarm.open("pglite");
  try {
    await t.step("after a plain answer and after complete_task", async () => {
      let asked: readonly ModelMessage[] = [];
      const worker = swarm.startWorker({
        model: ({ prompt: { messages } }) => {
          asked = messages;
          const count = messages.filter(({ role }) => role === "user").length;
          return count === 2
            ? { calls: [ask("complete_task", { output: { answer: count } })] }
            : { text: `Answer ${count}` };
        },
      });
      const taskId = await swarm.createTask("First");
      assert.equal((await swarm.until(taskId, "completed")).output, "Answer 1");

      await continueTask(swarm, taskId, "Second");
      assert.deepEqual((await swarm.until(taskId, "completed")).output, { answer: 2 });
      await continueTask(swarm, taskId, "Third");
      assert.equal((await swarm.until(taskId, "completed")).output, "Answer 3");

      assert.deepEqual(shown(asked), [
        "user: First",
        "assistant: Answer 1",
        "user: Second",
        "assistant: ",
        "tool: The task is complete.",
        "user: Third",
      ]);
      const [row] = await swarm.sql`
        select input_tokens::int as tokens from public.tasks where id = ${taskId}::uuid`;
      assert.equal(row?.tokens, 30);
      await worker.stop();
    });

    await t.step("after a cancellation, none of the old calls starts again", async () => {
      const calls: string[] = [];
      const started = Promise.withResolvers<void>();
      let asked: readonly ModelMessage[] = [];
      const worker = swarm.startWorker({
        heartbeatSeconds: 0.2,
        tools: [toolNamed("pay")],
        model: ({ prompt: { messages } }) => {
          asked = messages;
          return messages.length === 1
            ? { calls: [ask("pay", { n: 1 }), ask("create_subtask", { agent: "?", input: "x" })] }
            : { text: "Stopped" };
        },
        callTool: async ({ toolName }, signal) => {
          calls.push(toolName);
          started.resolve();
          await new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          });
          return answered("never");
        },
      });
      const taskId = await swarm.createTask("Pay");
      await started.promise;
      await swarm.sql`select public.cancel_task(${taskId}::uuid)`;
      await swarm.until(taskId, "cancelled");

      await continueTask(swarm, taskId, "Do not pay");
      const task = await swarm.until(taskId, "completed");

      assert.equal(task.output, "Stopped");
      assert.deepEqual(calls, ["pay"]);
      assert.deepEqual(asked.map(({ role }) => role), [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
      ]);
      await worker.stop();
    });

    await t.step("after a thousand steps", async () => {
      const taskId = await swarm.createTask("Count", "test-planner", { max_steps: null });
      await swarm.sql`
        with ended as (
          update public.tasks set status = 'completed', output = '"done"', finished_at = now()
          where id = ${taskId}::uuid returning id
        )
        insert into public.task_steps
          (task_id, seq, kind, state, name, call_id, input, output, epoch, ended_at)
        select id, seq,
          case seq % 2 when 1 then 'model' else 'tool' end, 'done', 'look', 'call-' || (seq - seq % 2),
          '{"server": "files"}',
          case seq % 2 when 1 then jsonb_build_object(
            'text', '', 'finish_reason', 'tool_calls', 'tool_calls', jsonb_build_array(jsonb_build_object(
              'call_id', 'call-' || seq + 1, 'name', 'look', 'arguments', '{}'::jsonb)))
          else jsonb_build_object('text', 'result ' || seq, 'execution_id', 'e', 'is_error', false) end,
          0, now()
        from ended, generate_series(1, 1000) as seq`;
      let asked: readonly ModelMessage[] = [];
      const worker = swarm.startWorker({
        model: ({ prompt: { messages } }) => {
          asked = messages;
          return { text: "On it" };
        },
      });

      await continueTask(swarm, taskId, "And now?");
      const task = await swarm.until(taskId, "completed");

      assert.equal(task.output, "On it");
      assert.equal(asked.length, 1 + 1000 + 1);
      assert.equal(asked.at(-1)?.text, "And now?");
      const steps = await swarm.steps(taskId);
      assert.deepEqual(steps.slice(1000).map(({ seq, kind }) => [seq, kind]), [
        [1001, "user"],
        [1002, "model"],
      ]);
      await worker.stop();
    });

    await t.step("a worker that dies before it stored its answer answers once more", async () => {
      let answers = 0;
      const model = () => ({ text: `Answer ${++answers}` });
      const first = swarm.startWorker({ model });
      const taskId = await swarm.createTask("First");
      await swarm.until(taskId, "completed");
      await first.stop();
      await continueTask(swarm, taskId, "Second");
      // A claim that is abandoned during its model call, as a killed worker leaves it.
      const [claim] = await swarm.sql`
        select epoch from private.claim_tasks('doomed', 1, 1, true)`;
      assert.ok(claim);
      await swarm.endLease(taskId);
      const rescuer = swarm.startWorker({ model });

      const task = await swarm.until(taskId, "completed");

      assert.equal(task.output, "Answer 2");
      const steps = await swarm.steps(taskId);
      assert.deepEqual(steps.map(({ seq, kind }) => [seq, kind]), [
        [1, "model"],
        [2, "user"],
        [3, "model"],
      ]);
      await rescuer.stop();
    });
  } finally {
    await swarm.close();
  }
});
