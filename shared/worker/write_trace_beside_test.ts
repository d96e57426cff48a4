import assert from "node:assert/strict";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { nextTurn } from "../platform/isolate/next_turn.ts";
import { StopReason } from "../engine/work/stop_reason.ts";
import { Watch } from "../engine/work/watch.ts";
import type { TaskPorts } from "../engine/worker/task_ports.ts";
import type { TaskStore } from "../engine/worker/task_store.ts";
import { writeTraceBeside } from "./write_trace_beside.ts";

const LEASE = { taskId: "task", epoch: "1" };

/** A run whose trace is being written until the test ends that write. */
function startWriting() {
  const writing = Promise.withResolvers<void>();
  const operations: string[] = [];
  const logged: unknown[] = [];
  const store = {
    beginHanded: () => writing.promise,
    record: () => {
      operations.push("record");
      return Promise.resolve({ isCancelled: false });
    },
  };
  const ports = {
    store: store as unknown as TaskStore,
    log: (_level: string, event: string, fields: unknown) => logged.push([event, fields]),
  } as unknown as TaskPorts;
  const control = {
    signal: new AbortController().signal,
    isDraining: () => false,
    isClosing: () => false,
    settle: () => {},
    watch: new Watch(),
  };
  return { writing, operations, logged, ...writeTraceBeside(LEASE, { ports, control }) };
}

Deno.test("what a run records waits until its trace is written", async () => {
  const { writing, operations, ports, control } = startWriting();

  const recorded = ports.store.record(LEASE, [], []);
  await Promise.resolve();
  assert.deepEqual(operations, []);
  writing.resolve();
  await recorded;

  assert.deepEqual(operations, ["record"]);
  assert.equal(control.signal.aborted, false);
});

Deno.test("a run whose trace cannot be written loses its lease and records nothing", async () => {
  const { writing, operations, logged, ports, control } = startWriting();
  const error = new SwarmError("DATABASE_UNAVAILABLE", "Cannot begin: it does not respond", {
    hint: "Try again.",
  });

  const recorded = ports.store.record(LEASE, [], []);
  await nextTurn();
  writing.reject(error);
  await assert.rejects(recorded, error);

  assert.deepEqual(operations, []);
  assert.ok(control.signal.reason instanceof StopReason);
  assert.equal(control.signal.reason.kind, "lost");
  assert.deepEqual(logged, [["task.let_go", { task_id: "task", code: "DATABASE_UNAVAILABLE" }]]);
});
