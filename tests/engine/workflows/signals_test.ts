import assert from "node:assert/strict";
import { waitFor } from "../../../scripts/wait_for.ts";
import { defineWorkflow } from "../../../shared/engine/workflows/workflow.ts";
import { testsSharing } from "../../shared_fixture.ts";
import { Swarm } from "../worker/swarm_fixture.ts";
import { addUser, signalAs, startRunner } from "./workflow_fixture.ts";

const test = testsSharing(async () => {
  const swarm = await Swarm.open();
  return Object.assign(swarm, { [Symbol.asyncDispose]: () => swarm.close() });
});

const collect = defineWorkflow("collect", async (flow) => {
  const taken = [];
  for (let index = 0; index < 3; index++) {
    taken.push(await flow.signal("item", { name: `item ${index}` }));
  }
  return taken;
});

test("signals arrive once and in their order, from owners and the service, before and after the wait", async (swarm) => {
  const ownerId = await addUser(swarm);
  await (await startRunner(swarm, [collect])).stop();
  const taskId = await swarm.createTask({}, "collect", undefined, { ownerId });
  await signalAs(swarm, ownerId, { taskId, name: "item", data: 1 });
  const second = { taskId, name: "item", data: 2, key: "second" };
  const id = await signalAs(swarm, null, second);
  assert.equal(await signalAs(swarm, ownerId, { ...second, data: "again" }), id);
  const runner = await startRunner(swarm, [collect]);
  await waitFor(async () => (await swarm.events(taskId)).includes("task.parked"), {
    what: "the workflow to wait for the third",
  });
  // A signal of another name wakes nobody.
  const events = await swarm.events(taskId);
  await signalAs(swarm, ownerId, { taskId, name: "other" });
  assert.deepEqual(await swarm.events(taskId), [...events, "signal.received"]);
  await signalAs(swarm, ownerId, { taskId, name: "item", data: 3 });
  assert.deepEqual((await swarm.until(taskId, "completed")).output, [1, 2, 3]);
  await runner.stop();

  // A sender that repeats its request learns that it has arrived, also after the end.
  assert.equal(await signalAs(swarm, ownerId, second), id);
  await assert.rejects(signalAs(swarm, ownerId, { taskId, name: "item" }), {
    detail: "SIGNAL_NOT_ACCEPTED",
    message: /has ended/,
  });
});

test("a stranger's signal is TASK_NOT_FOUND, and nobody writes or reads signals of others", async (swarm) => {
  const [ownerId, strangerId] = [await addUser(swarm), await addUser(swarm)];
  await (await startRunner(swarm, [collect])).stop();
  const taskId = await swarm.createTask({}, "collect", undefined, { ownerId });
  await signalAs(swarm, ownerId, { taskId, name: "item", data: "secret" });
  const rejected = { detail: "TASK_NOT_FOUND" };
  await assert.rejects(signalAs(swarm, strangerId, { taskId, name: "item" }), rejected);
  await assert.rejects(
    signalAs(swarm, ownerId, { taskId: crypto.randomUUID(), name: "item" }),
    rejected,
  );
  const asUser = (userId: string, statement: string) =>
    swarm.sql.begin(async (sql) => {
      await sql`select set_config('role', 'authenticated', true),
        set_config('request.jwt.claims', ${
        JSON.stringify({ role: "authenticated", sub: userId })
      }, true)`;
      return await sql.unsafe(statement);
    });
  const read = "select data from public.task_signals";
  assert.deepEqual((await asUser(ownerId, read)).map(({ data }) => data), ["secret"]);
  assert.deepEqual([...await asUser(strangerId, read)], []);
  const forbidden = { code: "42501" };
  await assert.rejects(asUser(ownerId, "delete from public.task_signals"), forbidden);
  await assert.rejects(asUser(ownerId, "select private.signal_key()"), forbidden);
  await assert.rejects(
    asUser(ownerId, `select private.store_signal('${taskId}', 'item', '1', null, 'url')`),
    forbidden,
  );
});

test("a signal has limits of size and count, and only workflows take them", async (swarm) => {
  await (await startRunner(swarm, [collect])).stop();
  const taskId = await swarm.createTask({}, "collect");
  const send = (signal: { name?: string; data?: string; key?: string }) =>
    signalAs(swarm, null, { taskId, name: "item", ...signal });
  const invalid = { detail: "SIGNAL_INVALID" };
  await assert.rejects(send({ name: "" }), invalid);
  await assert.rejects(send({ name: "x".repeat(201) }), invalid);
  await assert.rejects(send({ key: "" }), invalid);
  await assert.rejects(send({ data: "x".repeat(1_100_000) }), invalid);
  for (let count = 0; count < 100; count++) await send({});
  await assert.rejects(send({}), {
    detail: "SIGNAL_NOT_ACCEPTED",
    message: /100 signals already wait/,
  });
  await assert.rejects(signalAs(swarm, null, { taskId: await swarm.createTask(), name: "item" }), {
    detail: "SIGNAL_NOT_ACCEPTED",
    message: /only workflows take signals/,
  });
});

test("a signal that does not come in time is null", async (swarm) => {
  const late = defineWorkflow("late", (flow) => flow.signal("answer", { timeout: 0.01 }));
  const runner = await startRunner(swarm, [late]);
  const taskId = await swarm.createTask({}, "late");
  assert.equal((await swarm.until(taskId, "completed")).output, null);
  await runner.stop();
});
