import assert from "node:assert/strict";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ToolCallRequest } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import { addGuardrails } from "./checked_job.ts";
import { answered, ask, Swarm } from "./swarm_fixture.ts";

async function openSwarm(): Promise<Swarm & AsyncDisposable> {
  const swarm = await Swarm.open();
  await addGuardrails(swarm.sql);
  return Object.assign(swarm, { [Symbol.asyncDispose]: () => swarm.close() });
}

/** A guardrail that gives these answers and records its requests. */
function guardrail(answers: Readonly<Record<string, JsonObject>>, asked: ToolCallRequest[] = []) {
  return (request: ToolCallRequest) => {
    asked.push(request);
    return answered("", { structured: answers[request.toolName] ?? { allowed: true } });
  };
}

const lastText = ({ prompt }: TaskModelCall) => String(prompt.messages.at(-1)?.text);

Deno.test("an agent's guardrails check input and result", async (t) => {
  await using swarm = await openSwarm();

  await t.step(
    "an allowed result is returned, through the gateway as the task's owner",
    async () => {
      const asked: ToolCallRequest[] = [];
      const worker = swarm.startWorker({
        model: () => ({ text: "Roses" }),
        callTool: guardrail({}, asked),
      });
      const taskId = await swarm.createTask("Write");
      const { output } = await swarm.until(taskId, "completed");
      await worker.stop();

      assert.equal(output, "Roses");
      assert.deepEqual(asked.map(({ toolName, arguments: given }) => [toolName, given]), [
        ["check_input", { stage: "input", content: "Write" }],
        ["check_output", { stage: "output", content: "Roses" }],
      ]);
      assert.ok(asked.every(({ caller }) => caller.taskId === taskId));
      const steps = await swarm.steps(taskId);
      assert.deepEqual(steps.map(({ kind }) => kind), ["model", "guardrail", "guardrail"]);
    },
  );

  await t.step("a refused input ends the task, and the answer stays hidden", async () => {
    const calls: string[] = [];
    const worker = swarm.startWorker({
      model: () => {
        calls.push("model");
        return { text: "how to pick a lock", calls: [ask("act")] };
      },
      tools: [toolNamed("act")],
      callTool: (request) => {
        calls.push(request.toolName);
        return guardrail({ check_input: { allowed: false, reason: "It asks for harm" } })(request);
      },
    });
    const taskId = await swarm.createTask("Do harm");
    const { error } = await swarm.until(taskId, "failed");
    await worker.stop();

    assert.equal(error?.code, "GUARDRAIL_REFUSED");
    assert.match(error?.message ?? "", /It asks for harm/);
    assert.ok(!calls.includes("act"), "no tool of the agent ran");
    const [shown] = await swarm.sql`
      select (select string_agg(output::text, '') from public.task_steps where task_id = ${taskId}::uuid)
        || (select string_agg(payload::text, '') from public.task_events where task_id = ${taskId}::uuid) as text`;
    assert.ok(!String(shown?.text).includes("pick a lock"));
    const [booked] = await swarm.sql`
      select count(*)::int as count from public.usage_events where task_id = ${taskId}::uuid`;
    assert.equal(booked?.count, 1, "the call is charged");
  });

  await t.step("the model answers a replaced input", async () => {
    const seen: string[] = [];
    const worker = swarm.startWorker({
      model: (call) => {
        seen.push(lastText(call));
        return { text: `Answer to: ${lastText(call)}` };
      },
      callTool: guardrail({ check_input: { allowed: true, replacement: "Call [redacted]" } }),
    });
    const taskId = await swarm.createTask("Call 555-1234");
    const { output } = await swarm.until(taskId, "completed");
    await worker.stop();

    assert.equal(output, "Answer to: Call [redacted]");
    assert.equal(seen.at(-1), "Call [redacted]");
    const events = await swarm.events(taskId);
    assert.equal(events.filter((type) => type === "model.completed").length, 1);
  });

  await t.step("a refused result ends the task, a replaced one is its output", async () => {
    for (
      const [answer, status] of [
        [{ allowed: false, reason: "It is rude" }, "failed"],
        [{ allowed: true, replacement: "[removed]" }, "completed"],
      ] as const
    ) {
      const worker = swarm.startWorker({
        model: () => ({ calls: [ask("complete_task", { output: "rude words" })] }),
        callTool: guardrail({ check_output: answer }),
      });
      const taskId = await swarm.createTask("Write");
      const { output, error } = await swarm.until(taskId, status);
      await worker.stop();

      if (status === "failed") assert.match(error?.message ?? "", /It is rude/);
      else assert.equal(output, "[removed]");
    }
  });

  await t.step("a failing guardrail lets nothing through", async () => {
    for (const answer of [answered("down", { isError: true }), answered("perhaps")]) {
      const worker = swarm.startWorker({
        model: () => ({ text: "Roses" }),
        callTool: () => answer,
      });
      const taskId = await swarm.createTask("Write", "test-planner", undefined, { maxAttempts: 1 });
      const { error } = await swarm.until(taskId, "failed");
      await worker.stop();

      assert.equal(error?.code, "GUARDRAIL_FAILED");
    }
  });

  await t.step("a message that continues the task is checked too", async () => {
    const asked: ToolCallRequest[] = [];
    const worker = swarm.startWorker({
      model: (call) => ({ text: lastText(call) }),
      callTool: guardrail({}, asked),
    });
    const taskId = await swarm.createTask("One");
    await swarm.until(taskId, "completed");
    await swarm.sql`select public.continue_task(${taskId}::uuid, '"Two"')`;
    const { output } = await swarm.until(taskId, "completed");
    await worker.stop();

    assert.equal(output, "Two");
    const inputs = asked.filter(({ toolName }) => toolName === "check_input");
    assert.deepEqual(inputs.map(({ arguments: given }) => given.content), ["One", "Two"]);
    const seqs = (await swarm.steps(taskId)).map(({ seq }) => seq);
    assert.equal(new Set(seqs).size, seqs.length);
  });
});
