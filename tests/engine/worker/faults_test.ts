import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { UnknownCall } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { TaskModelCall } from "../../../shared/engine/worker/task_ports.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import { abandon, type DoomedWorker, startDoomedWorker } from "./dying_store.ts";
import {
  answered,
  ask,
  type ModelScript,
  Swarm,
  type TestWorker,
  turnNumber,
  type WorkerParts,
} from "./swarm_fixture.ts";

const complete = { calls: [ask("complete_task", { output: "done" })] };

/** Two tool calls and an answer; counts the executed calls. */
function job() {
  const ran: string[] = [];
  const model: ModelScript = (call) => {
    const turn = turnNumber(call);
    ran.push(`model ${turn}`);
    return turn < 2 ? { calls: [ask("read", { turn })] } : complete;
  };
  const parts = {
    model,
    tools: [toolNamed("read", { isReadOnly: true })],
    callTool: (request: { readonly arguments: { readonly turn?: unknown } }) => {
      ran.push(`tool ${request.arguments.turn}`);
      return answered("fine");
    },
  };
  return { ran, parts };
}

Deno.test("no fault loses a task or repeats a finished step", async (t) => {
  const swarm = await Swarm.open();
  const abandoned: TestWorker[] = [];
  const startDoomed = (parts: WorkerParts, fatal: number): DoomedWorker => {
    const doomed = startDoomedWorker(swarm, parts, fatal);
    abandoned.push(doomed);
    return doomed;
  };
  try {
    for (const fatal of [0, 1, 2, 3, 4]) {
      await t.step(`a worker that dies at write ${fatal + 1} costs at most one step`, async () => {
        const { ran, parts } = job();
        const { died } = startDoomed(parts, fatal);
        const taskId = await swarm.createTask();
        await died;
        const before = ran.length;
        await swarm.endLease(taskId);

        const rescuer = swarm.startWorker(parts);
        const task = await swarm.until(taskId, "completed");

        assert.equal(task.attempts, 0);
        const again = ran.length - new Set(ran).size;
        assert.ok(again <= 1, `${before} steps before, then ${JSON.stringify(ran)}`);
        assert.deepEqual(
          (await swarm.steps(taskId)).map(({ state }) => state),
          ["done", "done", "done", "done", "done", "done"],
        );
        await rescuer.stop();
      });
    }

    await t.step(
      "a call that may have taken effect asks a person before it is repeated",
      async () => {
        const keys: string[] = [];
        const model: ModelScript = (call) =>
          turnNumber(call) === 0 ? { calls: [ask("pay", { amount: 5 })] } : complete;
        const parts: WorkerParts = {
          model,
          tools: [toolNamed("pay")],
          callTool: ({ idempotencyKey }) => {
            keys.push(idempotencyKey);
            return answered("paid");
          },
        };
        const { died } = startDoomed(parts, 1);
        const taskId = await swarm.createTask();
        await died;
        await swarm.endLease(taskId);

        const rescuer = swarm.startWorker(parts);
        await swarm.until(taskId, "needs_human_review");
        assert.equal(keys.length, 1);
        await swarm.sql`select public.respond_to_review(${taskId}::uuid, true, '{}', null)`;
        await swarm.until(taskId, "completed");

        assert.deepEqual(keys, [`${taskId}:2`, `${taskId}:2`]);
        await rescuer.stop();
      },
    );

    await t.step("an approval for another call is not reused", async () => {
      let callCount = 0;
      const parts = {
        tools: [toolNamed("pay")],
        model: (call: TaskModelCall) => turnNumber(call) === 0 ? { calls: [ask("pay")] } : complete,
        callTool: () => {
          callCount++;
          return answered("paid");
        },
      };
      const first = startDoomed(parts, 1);
      const taskId = await swarm.createTask();
      await first.died;
      assert.equal(callCount, 1);
      await swarm.endLease(taskId);
      const second = startDoomed(parts, 0);
      await swarm.until(taskId, "needs_human_review");
      await swarm.sql`select public.respond_to_review(${taskId}::uuid, true, '{}', null)`;
      await second.died;
      assert.equal(callCount, 2);
      await swarm.endLease(taskId);

      const rescuer = swarm.startWorker(parts);
      await swarm.until(taskId, "completed");

      const [, pay] = await swarm.steps(taskId);
      assert.equal(pay?.output.error_code, "TOOL_OUTCOME_UNKNOWN");
      assert.equal(callCount, 2);
      await rescuer.stop();
    });

    await t.step(
      "an outcome that the gateway does not know asks a person, who can reject",
      async () => {
        let callCount = 0;
        const worker = swarm.startWorker({
          tools: [toolNamed("pay")],
          model: (call) => turnNumber(call) === 0 ? { calls: [ask("pay")] } : complete,
          callTool: () => {
            callCount++;
            return lostAnswer();
          },
        });
        const taskId = await swarm.createTask();
        await swarm.until(taskId, "needs_human_review");

        await swarm.sql`select public.respond_to_review(${taskId}::uuid, false, '{}', 'leave it')`;
        await swarm.until(taskId, "completed");

        const [, pay] = await swarm.steps(taskId);
        assert.equal(pay?.output.error_code, "TOOL_OUTCOME_UNKNOWN");
        assert.match(String(pay?.output.text), /leave it/);
        assert.equal(callCount, 1);
        await worker.stop();
      },
    );

    await t.step(
      "an outcome that stays unknown after an approval is reported to the model",
      async () => {
        const worker = swarm.startWorker({
          tools: [toolNamed("pay")],
          model: (call) => turnNumber(call) === 0 ? { calls: [ask("pay")] } : complete,
          callTool: () => {
            return lostAnswer();
          },
        });
        const taskId = await swarm.createTask();
        await swarm.until(taskId, "needs_human_review");

        await swarm.sql`select public.respond_to_review(${taskId}::uuid, true, '{}', null)`;
        await swarm.until(taskId, "completed");

        const [, pay] = await swarm.steps(taskId);
        assert.match(String(pay?.output.text), /its outcome is still unknown/);
        await worker.stop();
      },
    );

    await t.step("a worker without its lease stops and can write nothing", async () => {
      let refusals = 0;
      let stopped = false;
      const rescued = Promise.withResolvers<void>();
      const zombie = swarm.startWorker({
        leaseSeconds: 1,
        heartbeatSeconds: 60,
        model: async ({ signal }) => {
          await rescued.promise;
          stopped = signal.aborted;
          return { calls: [ask("complete_task", { output: "zombie" })] };
        },
        store: (store) => ({
          ...store,
          finish: (...end) =>
            store.finish(...end).catch((error) => {
              if (error instanceof SwarmError && error.code === "LEASE_LOST") refusals++;
              throw error;
            }),
        }),
        slots: 1,
      });
      const taskId = await swarm.createTask();
      await swarm.until(taskId, "running");

      const rescuer = swarm.startWorker({ model: () => complete });
      const task = await swarm.until(taskId, "completed");
      rescued.resolve();
      await waitFor(() => refusals > 0 || stopped, { what: "the zombie to be refused" });

      assert.equal(task.output, "done");
      assert.equal((await swarm.task(taskId)).output, "done");
      await Promise.all([zombie.stop(), rescuer.stop()]);
    });

    await t.step("a cancellation aborts calls in flight within a heartbeat", async () => {
      let wasAborted = false;
      const worker = swarm.startWorker({
        heartbeatSeconds: 0.3,
        model: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              wasAborted = true;
              reject(signal.reason);
            });
          }),
      });
      const taskId = await swarm.createTask();
      await waitFor(async () => (await swarm.steps(taskId)).length === 1);

      await swarm.sql`select public.cancel_task(${taskId}::uuid)`;
      await swarm.until(taskId, "cancelled");

      await waitFor(() => wasAborted, { what: "the model call to be aborted" });
      await worker.stop();
    });

    await t.step("a worker whose time is up returns its tasks without an attempt", async () => {
      let callCount = 0;
      let aheadMs = 0;
      const first = swarm.startWorker({
        wallClockSeconds: 3_600,
        clockAheadMs: () => aheadMs,
        model: ({ signal }) => {
          callCount++;
          aheadMs = 0.9 * 3_600_000;
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          });
        },
      });

      const taskId = await swarm.createTask();
      await first.ended;
      const released = await swarm.task(taskId);
      const second = swarm.startWorker({ model: () => complete });
      const task = await swarm.until(taskId, "completed");

      assert.equal(released.status, "pending");
      assert.equal(released.deliveries, 0);
      assert.equal(task.attempts, 0);
      assert.equal(callCount, 1);
      await second.stop();
    });

    await t.step(
      "a worker that closes starts no further step, so no outcome is unknown",
      async () => {
        let aheadMs = 0;
        const first = swarm.startWorker({
          wallClockSeconds: 3_600,
          clockAheadMs: () => aheadMs,
          tools: [toolNamed("pay")],
          model: () => {
            // It closes after three quarters of its time and returns everything after 85 %.
            aheadMs = 0.8 * 3_600_000;
            return { calls: [ask("pay")] };
          },
          callTool: () => answered("paid"),
        });
        const taskId = await swarm.createTask();
        await first.ended;

        const steps = await swarm.steps(taskId);
        const second = swarm.startWorker({
          tools: [toolNamed("pay")],
          model: () => complete,
          callTool: () => answered("paid"),
        });
        await swarm.until(taskId, "completed");

        assert.deepEqual(steps.map(({ kind, state }) => [kind, state]), [["model", "done"]]);
        await second.stop();
      },
    );

    await t.step("a call that was written but certainly not sent asks nobody", async () => {
      let callCount = 0;
      const parts = {
        tools: [toolNamed("pay")],
        model: (call: TaskModelCall) => turnNumber(call) === 0 ? { calls: [ask("pay")] } : complete,
        callTool: () => {
          callCount++;
          return answered("paid");
        },
      };
      let releasing: Promise<void> | undefined;
      const first: TestWorker = swarm.startWorker({
        ...parts,
        store: (store) => ({
          ...store,
          record: async (lease, results, next) => {
            const outcome = await store.record(lease, results, next);
            // The platform shuts down while the database's answer is in transit.
            if (next.some(({ kind }) => kind === "tool")) {
              releasing ??= first.worker.unload();
              await new Promise((resolve) => setTimeout(resolve));
            }
            return outcome;
          },
          wakeSuccessor: () => Promise.resolve(),
        }),
      });
      const taskId = await swarm.createTask();
      await waitFor(() => releasing !== undefined);
      await first.ended;
      const released = await swarm.steps(taskId);

      const second = swarm.startWorker(parts);
      await swarm.until(taskId, "completed");

      assert.deepEqual(released.map(({ kind, state }) => [kind, state]), [["model", "done"]]);
      assert.equal(callCount, 1);
      assert.ok(!(await swarm.events(taskId)).includes("review.requested"));
      await second.stop();
    });

    await t.step("errors spread over a long task do not fail it", async () => {
      const asked = new Map<number, number>();
      const worker = swarm.startWorker({
        model: (call) => {
          const turn = turnNumber(call);
          asked.set(turn, (asked.get(turn) ?? 0) + 1);
          if (asked.get(turn) === 1) throw new SwarmError("MODEL_UNAVAILABLE", "gone");
          const save = ask("save_intermediate_data", { key: "turn", value: turn });
          return turn < 3 ? { calls: [save] } : complete;
        },
      });
      const taskId = await swarm.createTask("Do it", "test-planner", undefined, { maxAttempts: 2 });

      const task = await swarm.until(taskId, "completed");

      assert.deepEqual([...asked.values()], [2, 2, 2, 2]);
      const events = await swarm.events(taskId);
      assert.equal(events.filter((type) => type === "task.retried").length, 4);
      assert.equal(task.attempts, 1, "the attempts of the last step");
      await worker.stop();
    });

    await t.step("a temporary database outage costs nothing", async () => {
      let outages = 6;
      const outage = () => {
        outages--;
        return new SwarmError("DATABASE_UNAVAILABLE", "Cannot reach the database");
      };
      const worker = swarm.startWorker({
        model: () => complete,
        store: (store) => ({
          ...store,
          claim: (id, limit) => outages > 3 ? Promise.reject(outage()) : store.claim(id, limit),
          heartbeat: (id, leases) =>
            outages > 0 ? Promise.reject(outage()) : store.heartbeat(id, leases),
        }),
      });

      const task = await swarm.until(await swarm.createTask(), "completed");

      assert.equal(task.attempts, 0);
      await worker.stop();
    });

    await t.step("a failing task is logged with the code and message of its error", async () => {
      const logged: unknown[] = [];
      const worker = swarm.startWorker({
        model: () => {
          throw new SwarmError("MODEL_UNAVAILABLE", "Cannot reach the model: it is being renewed");
        },
        log: (level, event, fields) => {
          if (event === "task.failing") logged.push({ level, ...fields });
        },
      });
      const taskId = await swarm.createTask();
      await waitFor(() => logged.length > 0, { what: "the failure to be logged" });

      assert.deepEqual(logged[0], {
        level: "warn",
        task_id: taskId,
        code: "MODEL_UNAVAILABLE",
        message: "Cannot reach the model: it is being renewed",
        origin: undefined,
      });
      await worker.stop();
      await swarm.sql`select public.cancel_task(${taskId}::uuid)`;
    });

    await t.step("an error without a code fails the task without its text", async () => {
      const worker = swarm.startWorker({
        model: () => {
          throw new Error("the key is hunter2");
        },
      });
      const taskId = await swarm.createTask();
      await waitFor(async () => (await swarm.task(taskId)).attempts > 0);

      const [event] = await swarm.sql`
        select payload::text as payload from public.task_events
        where task_id = ${taskId}::uuid and type = 'task.retried'`;
      assert.match(String(event?.payload), /INTERNAL/);
      assert.ok(!String(event?.payload).includes("hunter2"));
      await worker.stop();
      await swarm.sql`select public.cancel_task(${taskId}::uuid)`;
    });

    await t.step("an idle worker ends on its own and reports it", async () => {
      const worker = swarm.startWorker({ idleSeconds: 0.2 });

      await worker.ended;

      const [row] = await swarm.sql`
        select stopped_at is not null as is_stopped from private.workers
        where id = ${worker.worker.id}`;
      assert.ok(row === undefined || row.is_stopped === true);
    });
  } finally {
    await abandon(abandoned);
    await swarm.close();
  }
});

function lostAnswer(): UnknownCall {
  return {
    kind: "unknown",
    message: "The connection was cut.",
    errorCode: "TOOL_OUTCOME_UNKNOWN",
    hint: "Check whether the call took effect.",
    executionId: crypto.randomUUID(),
    feedbackToken: "f",
  };
}
