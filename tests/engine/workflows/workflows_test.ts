import assert from "node:assert/strict";
import { waitFor } from "../../../scripts/wait_for.ts";
import { defineWorkflow, type Flow } from "../../../shared/engine/workflows/workflow.ts";
import { testsSharing } from "../../shared_fixture.ts";
import { Swarm } from "../worker/swarm_fixture.ts";
import {
  addUser,
  answerReview,
  dyingAtWrite,
  loseLease,
  signalAs,
  startRunner,
} from "./workflow_fixture.ts";

const test = testsSharing(async () => {
  const swarm = await Swarm.open();
  return Object.assign(swarm, { [Symbol.asyncDispose]: () => swarm.close() });
});

test("a workflow runs steps and agents, asks a person, sleeps and takes a signal", async (swarm) => {
  const posted: unknown[] = [];
  const publish = defineWorkflow("publish", async (flow, input: { topic: string }) => {
    const facts = await flow.step("facts", () => [`about ${input.topic}`]);
    const [draft, critique] = await Promise.all([
      flow.agent("test-planner", { facts }),
      flow.agent("test-reader", { facts }),
    ]);
    const review = await flow.review("publish?", { draft, critique });
    if (!review.approved) return { published: false };
    await flow.step("post", () => posted.push(draft), { idempotent: false });
    await flow.sleep("cool down", 0.05);
    return { published: true, stats: await flow.signal("stats", { timeout: "7 days" }) };
  });
  const runner = await startRunner(swarm, [publish]);
  const worker = swarm.startWorker({
    model: ({ prompt: { messages } }) => ({ text: `Read ${messages[0]?.text}` }),
  });
  const taskId = await swarm.createTask({ topic: "webhooks" }, "publish");
  // Before anybody waits for it.
  await signalAs(swarm, null, { taskId, name: "stats", data: { views: 7 } });

  await swarm.until(taskId, "needs_human_review");
  await answerReview(swarm, taskId, true);
  const { output } = await swarm.until(taskId, "completed");
  assert.deepEqual(output, { published: true, stats: { views: 7 } });
  assert.deepEqual(posted, ['Read {"facts":["about webhooks"]}']);
  assert.deepEqual(
    (await swarm.steps(taskId)).map(({ kind, name, state }) => `${kind} ${name} ${state}`),
    [
      "step facts done",
      "system test-planner done",
      "system test-reader done",
      "system publish? done",
      "step post done",
      "step cool down done",
      "step stats done",
    ],
  );
  const events = await swarm.events(taskId);
  assert.equal(events.filter((type) => type === "subtask.finished").length, 2);
  assert.equal(events.filter((type) => type === "signal.received").length, 1);
  assert.equal(events.at(-1), "task.completed");
  await Promise.all([runner.stop(), worker.stop()]);
});

test("when a worker dies at any write, another one ends the workflow, and no recorded step runs twice", async (swarm) => {
  for (let fatal = 1; fatal <= 7; fatal++) {
    const runs: string[] = [];
    const name = `dies-at-${fatal}`;
    const workflow = defineWorkflow(name, async (flow) => {
      await flow.step("first", () => runs.push("first"));
      await flow.sleep("nap", 0);
      await Promise.all([
        flow.step("left", () => runs.push("left")),
        flow.step("right", () => runs.push("right")),
      ]);
      await flow.step("last", () => runs.push("last"));
      return name;
    });
    const died = Promise.withResolvers<void>();
    const store = dyingAtWrite(fatal, died.resolve);
    await startRunner(swarm, [workflow], { runner: name, store });
    const taskId = await swarm.createTask({}, name);
    const ended = swarm.until(taskId, "completed");
    const isDead = await Promise.race([died.promise.then(() => true), ended.then(() => false)]);
    const recorded = new Set(
      (await swarm.steps(taskId)).filter(({ state }) => state === "done")
        .map((step) => step.name),
    );
    const before = runs.length;
    if (isDead) await loseLease(swarm, taskId);
    const runner = isDead ? await startRunner(swarm, [workflow], { runner: name }) : null;
    assert.equal((await ended).output, name, `dead at write ${fatal}`);
    assert.deepEqual(runs.slice(before).filter((step) => recorded.has(step)), []);
    await runner?.stop();
  }
});

test("a write under an earlier lease is LEASE_LOST", async (swarm) => {
  const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const goOn = Promise.withResolvers<string>();
  let count = 0;
  const fenced = defineWorkflow("fenced", (flow) =>
    flow.step("one", () => {
      started[count++]?.resolve();
      return count === 1 ? "late" : goOn.promise;
    }));
  // The first one never gets to write, and does not notice the loss of its lease.
  const write = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<string>();
  await startRunner(swarm, [fenced], {
    runner: "fenced",
    store: (store) => ({
      ...store,
      claim: (...args) => count === 0 ? store.claim(...args) : Promise.resolve([]),
      journal: (lease) => ({
        ...store.journal(lease),
        async record(steps) {
          await write.promise;
          return await store.journal(lease).record(steps).catch((error) => {
            outcome.resolve(error.code);
            throw error;
          });
        },
      }),
    }),
  });
  const taskId = await swarm.createTask({}, "fenced");
  await started[0]?.promise;
  await loseLease(swarm, taskId);
  const young = await startRunner(swarm, [fenced], { runner: "fenced" });
  await started[1]?.promise;
  write.resolve();
  assert.equal(await outcome.promise, "LEASE_LOST");
  assert.equal((await swarm.steps(taskId)).length, 0);
  goOn.resolve("in time");
  assert.equal((await swarm.until(taskId, "completed")).output, "in time");
  await young.stop();
});

test("a step that is not idempotent and was interrupted asks a person each time", async (swarm) => {
  let effects = 0;
  const charge = defineWorkflow("charge", (flow) =>
    flow.step("charge", () => {
      effects++;
      return effects === 3 ? "charged" : new Promise<string>(() => {});
    }, { idempotent: false }));
  // A run that never ends keeps its slot; its worker claims the task again.
  await startRunner(swarm, [charge], { runner: "charge" });
  const taskId = await swarm.createTask({}, "charge");
  await waitFor(() => Promise.resolve(effects === 1), { what: "the first effect" });
  await loseLease(swarm, taskId);
  await swarm.until(taskId, "needs_human_review");
  const [review] = await swarm.sql`
    select question from public.human_reviews where task_id = ${taskId}::uuid`;
  assert.equal(
    review?.question,
    'It is not known whether the step "charge" took effect. Run it again?',
  );
  assert.equal(effects, 1);
  await answerReview(swarm, taskId, true);
  await waitFor(() => Promise.resolve(effects === 2), { what: "the second effect" });
  await loseLease(swarm, taskId);
  await swarm.until(taskId, "needs_human_review");
  assert.equal(effects, 2);
  await answerReview(swarm, taskId, false);
  const { error } = await swarm.until(taskId, "failed");
  assert.equal(error?.code, "WORKFLOW_FAILED");
  assert.match(error?.message ?? "", /a person did not let it run again/);

  // A retry is a person's decision to run it again.
  await swarm.sql.begin(async (sql) => {
    await sql`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
    await sql`select public.retry_task(${taskId}::uuid)`;
  });
  assert.equal((await swarm.until(taskId, "completed")).output, "charged");
});

test("changed code fails with WORKFLOW_CHANGED before anything new runs, and patched() lets old jobs end", async (swarm) => {
  let newSteps = 0;
  const before = async (flow: Flow) => {
    await flow.step("load", () => 1);
    await flow.step("old transform", () => 2);
    await flow.signal("go");
    return "old";
  };
  const first = await startRunner(swarm, [
    defineWorkflow("renamed", before),
    defineWorkflow("patched", before),
  ]);
  const renamed = await swarm.createTask({}, "renamed");
  const patched = await swarm.createTask({}, "patched");
  for (const taskId of [renamed, patched]) {
    await waitFor(async () => (await swarm.events(taskId)).includes("task.parked"), {
      what: "the workflow to wait",
    });
  }
  await first.stop();

  const second = await startRunner(swarm, [
    defineWorkflow("renamed", async (flow) => {
      await flow.step("load", () => 1);
      await flow.step("new transform", () => newSteps++);
      await flow.signal("go");
      return "new";
    }),
    defineWorkflow("patched", async (flow) => {
      await flow.step("load", () => 1);
      if (await flow.patched("new transform")) await flow.step("new transform", () => newSteps++);
      else await flow.step("old transform", () => 2);
      await flow.signal("go");
      return newSteps === 0 ? "old" : "new";
    }),
  ]);
  for (const taskId of [renamed, patched]) await signalAs(swarm, null, { taskId, name: "go" });
  const { error } = await swarm.until(renamed, "failed");
  assert.equal(error?.code, "WORKFLOW_CHANGED");
  const [row] = await swarm.sql`select error -> 'details' as details from public.tasks
    where id = ${renamed}::uuid`;
  assert.deepEqual(row?.details, { missing: ["old transform", "go"], found: "new transform" });
  assert.equal((await swarm.until(patched, "completed")).output, "old");
  assert.equal(newSteps, 0);

  const young = await swarm.createTask({}, "patched");
  await signalAs(swarm, null, { taskId: young, name: "go" });
  assert.equal((await swarm.until(young, "completed")).output, "new");
  await second.stop();
});

test("a runner leaves workflows that it no longer has, and operators see WORKFLOW_UNKNOWN with their count", async (swarm) => {
  const wait = defineWorkflow("withdrawn", (flow) => flow.signal("go"));
  const stay = defineWorkflow("stays", (flow) => flow.step("one", () => 1));
  await (await startRunner(swarm, [wait, stay], { runner: "billing" })).stop();
  const taskId = await swarm.createTask({}, "withdrawn");
  const runner = await startRunner(swarm, [stay], { runner: "billing" });
  const other = await swarm.createTask({}, "stays");
  await swarm.until(other, "completed");
  assert.equal((await swarm.task(taskId)).status, "pending");
  assert.equal((await swarm.task(taskId)).deliveries, 0);
  const [problem] = await swarm.sql`
    select kind, field, problem from private.configuration_problems() where name = 'withdrawn'`;
  assert.equal(problem?.kind, "workflow");
  assert.match(problem?.problem, /^WORKFLOW_UNKNOWN: .* 1 tasks wait for it$/);
  await runner.stop();

  const again = await startRunner(swarm, [wait, stay], { runner: "billing" });
  await signalAs(swarm, null, { taskId, name: "go", data: "found" });
  assert.equal((await swarm.until(taskId, "completed")).output, "found");
  await again.stop();

  const elsewhere = startRunner(swarm, [stay], { runner: "shipping" });
  await assert.rejects(elsewhere, { code: "WORKFLOW_NAME_TAKEN" });
  const agent = defineWorkflow("test-reader", () => Promise.resolve(1));
  await assert.rejects(startRunner(swarm, [agent]), { code: "WORKFLOW_NAME_TAKEN" });
});

test("workers of agents claim no workflows, and runners no agents", async (swarm) => {
  const idle = defineWorkflow("idle", () => Promise.resolve(1));
  await (await startRunner(swarm, [idle])).stop();
  const [workflow, agent] = [await swarm.createTask({}, "idle"), await swarm.createTask()];
  const worker = swarm.startWorker({ model: () => ({ text: "Done" }) });
  await swarm.until(agent, "completed");
  await worker.stop();
  assert.equal((await swarm.task(workflow)).status, "pending");

  const waiting = await swarm.createTask();
  const runner = await startRunner(swarm, [idle]);
  await swarm.until(workflow, "completed");
  await runner.stop();
  assert.equal((await swarm.task(waiting)).deliveries, 0);
});

test("a parked workflow does not count as a waiting task", async (swarm) => {
  const ownerId = await addUser(swarm);
  const wait = defineWorkflow("waits", (flow) => flow.signal("go"));
  const waitingCount = async () => {
    const [row] = await swarm
      .sql`select private.waiting_count(${ownerId}::uuid, 100)::int as count`;
    return row?.count;
  };
  await (await startRunner(swarm, [wait])).stop();
  const taskId = await swarm.createTask({}, "waits", undefined, { ownerId });
  assert.equal(await waitingCount(), 1);
  const runner = await startRunner(swarm, [wait]);
  await waitFor(async () => (await swarm.events(taskId)).includes("task.parked"), {
    what: "the workflow to wait",
  });
  assert.equal(await waitingCount(), 0);
  await runner.stop();
  await signalAs(swarm, ownerId, { taskId, name: "go" });
  assert.equal(await waitingCount(), 1);
});

test("several reviews are open at once, and each answer goes to its own question", async (swarm) => {
  const two = defineWorkflow("two-reviews", async (flow) => {
    const answers = await Promise.all([flow.review("first?"), flow.review("second?")]);
    return answers.map(({ approved }) => approved);
  });
  const runner = await startRunner(swarm, [two]);
  const taskId = await swarm.createTask({}, "two-reviews");
  await swarm.until(taskId, "needs_human_review");
  const open = await swarm.sql`
    select seq, question from public.human_reviews
    where task_id = ${taskId}::uuid and answered_at is null order by seq`;
  assert.deepEqual(open.map(({ question }) => question), ["first?", "second?"]);
  await answerReview(swarm, taskId, false, Number(open[1]?.seq));
  await answerReview(swarm, taskId, true);
  assert.deepEqual((await swarm.until(taskId, "completed")).output, [true, false]);
  await runner.stop();
});

test("a race goes on at the end of its first subtask, and cancels the others at the workflow's end", async (swarm) => {
  const slow = Promise.withResolvers<void>();
  const race = defineWorkflow(
    "race",
    (flow) =>
      flow.race("first", [flow.agent("test-planner", "slow"), flow.agent("test-reader", "fast")]),
  );
  const runner = await startRunner(swarm, [race]);
  const worker = swarm.startWorker({
    heartbeatSeconds: 0.2,
    model: async ({ prompt: { messages } }) => {
      if (messages[0]?.text === "slow") await slow.promise;
      return { text: "Done" };
    },
  });
  const taskId = await swarm.createTask({}, "race");
  assert.equal((await swarm.until(taskId, "completed")).output, "Done");
  slow.resolve();
  await waitFor(async () => {
    const rows = await swarm.sql`
      select status from public.tasks where parent_id = ${taskId}::uuid order by input::text`;
    return rows.map(({ status }) => status).join() === "completed,cancelled";
  }, { what: "the slower subtask to be cancelled" });
  await Promise.all([runner.stop(), worker.stop()]);
});

test("a workflow starts workflows, a failed one is an error, and a retry runs the failed step again", async (swarm) => {
  let isBroken = true;
  const inner = defineWorkflow(
    "inner",
    (flow, count: number | { count: number }) =>
      flow.step("work", () => {
        if (isBroken) throw new Error("the service is down");
        return count;
      }, { attempts: 2, backoff: 0.01 }),
  );
  const outer = defineWorkflow("outer", (flow) => flow.workflow(inner, { count: 2 }));
  const runner = await startRunner(swarm, [inner, outer]);
  const taskId = await swarm.createTask({}, "outer");
  const { error } = await swarm.until(taskId, "failed");
  assert.match(error?.message ?? "", /its step "inner" failed: .*the service is down/);

  isBroken = false;
  await swarm.sql.begin(async (sql) => {
    await sql`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
    await sql`select public.retry_task(${taskId}::uuid)`;
  });
  assert.deepEqual((await swarm.until(taskId, "completed")).output, { count: 2 });
  await runner.stop();
});

test("a long backoff parks the workflow", async (swarm) => {
  let calls = 0;
  const flaky = defineWorkflow("flaky", (flow) =>
    flow.step("call", () => {
      calls++;
      if (calls === 1) throw new Error("busy");
      return calls;
    }, { backoff: "1 hour" }));
  const runner = await startRunner(swarm, [flaky]);
  const taskId = await swarm.createTask({}, "flaky");
  await waitFor(async () => (await swarm.events(taskId)).includes("task.parked"), {
    what: "the workflow to wait",
  });
  const [row] = await swarm.sql`
    select round(extract(epoch from run_after - now()) / 60)::int as minutes
    from public.tasks where id = ${taskId}::uuid`;
  assert.ok(row?.minutes >= 50 && row?.minutes <= 60);
  await swarm.sql`update public.task_steps
    set input = input || jsonb_build_object('until', now()) where task_id = ${taskId}::uuid`;
  await swarm.sql`update public.tasks set run_after = now() where id = ${taskId}::uuid`;
  assert.equal((await swarm.until(taskId, "completed")).output, 2);
  await runner.stop();
});

test("cancelling ends a running workflow and what it waits for", async (swarm) => {
  const aborted = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const long = defineWorkflow("long", (flow) =>
    flow.step("wait", ({ signal }) => {
      started.resolve();
      signal.addEventListener("abort", () => aborted.resolve());
      return new Promise(() => {});
    }));
  const wait = defineWorkflow("parks", (flow) => flow.review("go on?"));
  const runner = await startRunner(swarm, [long, wait]);
  const [running, parked] = [
    await swarm.createTask({}, "long"),
    await swarm.createTask({}, "parks"),
  ];
  await Promise.all([started.promise, swarm.until(parked, "needs_human_review")]);
  for (const taskId of [running, parked]) {
    await swarm.sql.begin(async (sql) => {
      await sql`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
      await sql`select public.cancel_task(${taskId}::uuid)`;
    });
  }
  await Promise.all([swarm.until(running, "cancelled"), swarm.until(parked, "cancelled")]);
  await aborted.promise;
  await runner.stop();
});
