import assert from "node:assert/strict";
import { z } from "../../vendor/zod.js";
import { defineWorkflow } from "./workflow.ts";
import { runWorkflow } from "./run_workflow.ts";
import { NonRetryableError, StepError } from "./step_errors.ts";

Deno.test("runWorkflow() ends subtasks, reviews, sleeps and signals as the script says", async () => {
  const publish = defineWorkflow("publish", async (flow, { topic }: { topic: string }) => {
    const facts = await flow.step("facts", () => [`a fact about ${topic}`]);
    const [draft, critique] = await Promise.all([
      flow.agent("writer", { facts }),
      flow.agent("critic", { facts }),
    ]);
    const review = await flow.review("publish?", { draft, critique });
    if (!review.approved) return { published: false };
    await flow.sleep("cool down", "3 days");
    return { published: true, stats: await flow.signal("stats", { timeout: "7 days" }) };
  });
  const script = { writer: "A draft", critic: "Good", "publish?": { approved: true } };

  const { output, steps, endedAt } = await runWorkflow(publish, { topic: "webhooks" }, {
    steps: script,
    signals: { stats: [{ views: 7 }] },
  });
  assert.deepEqual(output, { published: true, stats: { views: 7 } });
  assert.deepEqual(steps, ["facts", "writer", "critic", "publish?", "cool down", "stats"]);
  assert.equal(endedAt.toISOString(), "2030-01-04T00:00:00.000Z");

  const late = await runWorkflow(publish, { topic: "webhooks" }, { steps: script });
  assert.deepEqual(late.output, { published: true, stats: null });
  assert.equal(late.endedAt.toISOString(), "2030-01-11T00:00:00.000Z");

  const refused = await runWorkflow(publish, { topic: "webhooks" }, {
    steps: { ...script, "publish?": { approved: false } },
  });
  assert.deepEqual(refused.output, { published: false });
  await assert.rejects(runWorkflow(publish, { topic: "webhooks" }), {
    code: "STEP_INVALID",
    message: /waits for "writer" \(child\)/,
  });
});

Deno.test("a step has as many attempts as its options say, and none after a NonRetryableError", async () => {
  let calls = 0;
  const flaky = defineWorkflow("flaky", (flow) =>
    flow.step("try", ({ attempt }) => {
      calls++;
      if (attempt < 3) throw new Error("not yet");
      return attempt;
    }, { backoff: "2 hours" }));
  const { output, endedAt } = await runWorkflow(flaky, null);
  assert.deepEqual([output, calls], [3, 3]);
  // After the first failure one hour, the longest backoff, and after the second another.
  assert.equal(endedAt.toISOString(), "2030-01-01T02:00:00.000Z");

  calls = 0;
  const hopeless = defineWorkflow("hopeless", (flow) =>
    flow.step("try", () => {
      calls++;
      throw new NonRetryableError("the file does not exist");
    }));
  await assert.rejects(runWorkflow(hopeless, null), {
    code: "WORKFLOW_FAILED",
    message: 'The workflow failed: its step "try" failed: the file does not exist',
  });
  assert.equal(calls, 1);

  const once = defineWorkflow("once", (flow) =>
    flow.step("try", () => {
      calls++;
      throw new Error("no");
    }, { idempotent: false }));
  await assert.rejects(runWorkflow(once, null), { code: "WORKFLOW_FAILED" });
  assert.equal(calls, 2);
});

Deno.test("a failed step is an error that the code can catch", async () => {
  const careful = defineWorkflow("careful", async (flow) => {
    try {
      return await flow.agent<string>("writer", {});
    } catch (error) {
      assert.ok(error instanceof StepError);
      return `${error.step}: ${error.message}`;
    }
  });
  const { output } = await runWorkflow(careful, null, {
    steps: {
      writer() {
        throw new Error("out of ideas");
      },
    },
  });
  assert.equal(output, "writer: out of ideas");
});

Deno.test("two steps of one name end the workflow, also where the code catches errors", async () => {
  const twice = defineWorkflow("twice", async (flow) => {
    await flow.step("load", () => 1);
    await flow.step("load", () => 2).catch(() => {});
    return "went on";
  });
  await assert.rejects(runWorkflow(twice, null), { code: "STEP_NAME_REPEATED" });
});

Deno.test("map() runs so many items at a time, and gives each its own names", async () => {
  let running = 0;
  let most = 0;
  const batch = defineWorkflow(
    "batch",
    (flow, count: number) =>
      flow.map(
        "square",
        Array.from({ length: count }, (_, index) => index),
        (item, inner) =>
          inner.step("multiply", async () => {
            most = Math.max(most, ++running);
            await Promise.resolve();
            running--;
            return item * item;
          }),
        { limit: 4 },
      ),
  );
  const { output, steps } = await runWorkflow(batch, 20);
  assert.deepEqual(output.slice(0, 5), [0, 1, 4, 9, 16]);
  assert.equal(output.length, 20);
  assert.equal(most, 4);
  assert.ok(steps.includes("square[19].multiply"));
});

Deno.test("inputs, results of steps and outputs are checked with zod and with JSON Schema", async () => {
  const checked = defineWorkflow("checked", async (flow, { count }) => {
    return await flow.step("double", () => (count * 2) as unknown as number, {
      schema: { type: "number", maximum: 10 },
    }) as number;
  }, { input: z.object({ count: z.coerce.number() }), output: z.number().min(2) });

  assert.equal((await runWorkflow(checked, { count: "4" } as never)).output, 8);
  await assert.rejects(runWorkflow(checked, { count: "many" } as never), {
    code: "TASK_INPUT_INVALID",
    message: /Cannot start the workflow "checked": count: /,
  });
  const invalid = runWorkflow(checked, { count: 6 });
  await assert.rejects(invalid, (error: { message: string; details?: { cause?: string } }) => {
    assert.match(error.message, /its step "double" failed: Cannot record the step "double"/);
    assert.equal(error.details?.cause, "STEP_RESULT_INVALID");
    return true;
  });
  await assert.rejects(runWorkflow(checked, { count: 0 }), { code: "OUTPUT_SCHEMA_MISMATCH" });
});

Deno.test("a step that exceeds its timeout fails with STEP_TIMED_OUT, and its signal aborts", async () => {
  let isAborted = false;
  const slow = defineWorkflow(
    "slow",
    (flow) =>
      flow.step(
        "wait",
        ({ signal }) =>
          new Promise<void>((resolve) =>
            signal.addEventListener("abort", () => {
              isAborted = true;
              resolve();
            })
          ),
        { timeout: 0.01, attempts: 1 },
      ),
  );
  await assert.rejects(runWorkflow(slow, null), (error: { details?: { cause?: string } }) => {
    assert.equal(error.details?.cause, "STEP_TIMED_OUT");
    return true;
  });
  assert.ok(isAborted);
});

Deno.test("a step that is not idempotent and times out runs again only if a person says so", async () => {
  let calls = 0;
  const charge = defineWorkflow("charge", (flow) =>
    flow.step("charge", () => {
      calls++;
      return calls === 1 ? new Promise(() => {}) : "charged";
    }, { idempotent: false, timeout: 0.01 }));
  const { output } = await runWorkflow(charge, null, {
    steps: { "rerun 1: charge": { approved: true } },
  });
  assert.deepEqual([output, calls], ["charged", 2]);

  calls = 0;
  await assert.rejects(
    runWorkflow(charge, null, { steps: { "rerun 1: charge": { approved: false } } }),
    (error: { details?: { cause?: string } }) => {
      assert.equal(error.details?.cause, "STEP_OUTCOME_UNKNOWN");
      return true;
    },
  );
  assert.equal(calls, 1);
});

Deno.test("a race has the result of the wait that ends first", async () => {
  const reviewed = defineWorkflow("reviewed", (flow) =>
    flow.race("answer or not", [
      flow.signal<string>("answer"),
      flow.sleep("patience", "1 day").then(() => "nobody answered"),
    ]));
  assert.equal((await runWorkflow(reviewed, null)).output, "nobody answered");
  const signals = { answer: ["yes"] };
  assert.equal((await runWorkflow(reviewed, null, { signals })).output, "yes");
});

Deno.test("invalid names, durations and times are STEP_INVALID", async () => {
  const codes = [
    defineWorkflow("a", (flow) => flow.sleep("nap", "soon")),
    defineWorkflow("b", (flow) => flow.sleepUntil("nap", "tomorrow")),
    defineWorkflow("c", (flow) => flow.step("", () => 1)),
    defineWorkflow("d", (flow) => flow.step("rerun 1: x", () => 1)),
  ];
  for (const workflow of codes) {
    // deno-lint-ignore no-explicit-any -- Workflows of different results.
    await assert.rejects(runWorkflow(workflow as any, null), { code: "STEP_INVALID" });
  }
  assert.throws(() => defineWorkflow("Publish!", () => Promise.resolve(1)), TypeError);
});
