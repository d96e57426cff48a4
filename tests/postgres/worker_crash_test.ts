import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { crashJob, type Moment } from "./crash_job.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertAllSettled, endLeases, printFigures } from "./race_fixture.ts";

/** When a worker is killed, and the expected effects on the job. */
interface Crash {
  readonly after: string;
  readonly moment: Moment;
  /** The call that had run without a stored result, and so runs again. */
  readonly again?: string;
  /** Whether a person is asked about `pay`, and that person's decision. */
  readonly payAgain?: boolean;
}

const CRASHES: readonly Crash[] = [
  { after: "it recorded a model call", moment: "intended 1" },
  { after: "the model answered", moment: "about to record 1", again: "planner 0" },
  { after: "it recorded a read-only tool call", moment: "intended 2" },
  { after: "the read-only tool answered", moment: "about to record 2", again: "look" },
  { after: "it stored the read-only tool's result", moment: "recorded 2" },
  { after: "it recorded an unsafe tool call", moment: "intended 4", payAgain: true },
  { after: "the unsafe tool answered", moment: "about to record 4", payAgain: false },
  { after: "it stored the unsafe tool's result", moment: "recorded 4" },
  { after: "it recorded two handoffs", moment: "intended 6" },
  { after: "it created the subtasks", moment: "spawned" },
  { after: "it parked", moment: "parked" },
  { after: "it recorded a question", moment: "intended 9" },
  { after: "it asked a person", moment: "asked" },
  {
    after: "the model answered with the completion",
    moment: "about to finish",
    again: "planner 4",
  },
  { after: "it finished", moment: "finished" },
];

const CALLS_OF_A_JOB = [
  "look",
  "pay",
  "planner 0",
  "planner 1",
  "planner 2",
  "planner 3",
  "planner 4",
  "reader one",
  "reader two",
];
const WORKER = new URL("killed_worker.ts", import.meta.url).pathname;

Deno.test("a job survives the death of its worker at any moment, and answers once in its conversation", async (t) => {
  await using server = await startMigratedServer();
  await server.sql`
    create table public.journal (
      id bigint generated always as identity, what text not null, idempotency_key text
    )`;
  const swarm = Swarm.attach(server.cluster.url);
  await swarm.addAgents();
  const conversation = await startConversation(swarm);
  const figures = { kills: 0, repeated_calls: 0, reviews_of_unknown_outcomes: 0 };

  for (const crash of CRASHES) {
    await t.step(`killed after ${crash.after}`, async () => {
      await swarm.sql`truncate public.journal, public.messages`;
      const { ownerId, metadata } = conversation;
      const taskId = await swarm.createTask(undefined, undefined, undefined, { ownerId, metadata });

      const answering = answerReviews(taskId, crash.payAgain ?? false);
      const { signal } = await runKilledWorker(server.cluster.url, taskId, crash.moment);
      assert.equal(signal, "SIGKILL");
      await endLeases(swarm.sql);
      const rescuer = swarm.startWorker({
        ...crashJob({ sql: swarm.sql, plannerTaskId: taskId, onMoment: () => {} }),
        // Only the lease of the killed worker may end.
        leaseSeconds: 60,
      });
      const task = await swarm.until(taskId, "completed");
      await Promise.all([answering, rescuer.stop()]);

      assert.deepEqual([task.output, task.attempts], ["published", 0]);
      const journal = await swarm.sql`select what, idempotency_key from public.journal`;
      const repeated = crash.again === undefined ? [] : [crash.again];
      assert.deepEqual(
        journal.map(({ what }) => what).sort(),
        [...CALLS_OF_A_JOB, ...repeated].sort(),
      );
      for (const { what, idempotency_key } of journal) {
        if (idempotency_key !== null) {
          assert.equal(idempotency_key, `${taskId}:${what === "pay" ? 4 : 2}`);
        }
      }
      await assertSteps(taskId, crash);
      const messages = await swarm.sql`select role, content from public.messages`;
      assert.deepEqual(messages.map((row) => ({ ...row })), [
        { role: "assistant", content: "published" },
      ]);
      await assertAllSettled(swarm.sql);
      figures.kills++;
      figures.repeated_calls += repeated.length;
      if (crash.payAgain !== undefined) figures.reviews_of_unknown_outcomes++;
    });
  }
  printFigures(figures);
  await swarm.close();

  /** A person who approves everything except a payment that may have been made already. */
  async function answerReviews(taskId: string, payAgain: boolean): Promise<void> {
    await waitFor(async () => {
      const [open] = await swarm.sql`
        select seq from public.human_reviews
        where task_id = ${taskId}::uuid and answered_at is null`;
      if (open !== undefined) {
        const isApproved = open.seq === 4 ? payAgain : true;
        await swarm.sql`
          select public.respond_to_review(${taskId}::uuid, ${isApproved}, '{}', null)`;
      }
      return (await swarm.task(taskId)).status === "completed";
    }, { intervalMs: 50, what: "the job to end" });
  }

  /**
   * Asserts that each step has one result, reported once, and that the journal matches the steps.
   */
  async function assertSteps(taskId: string, { payAgain }: Crash): Promise<void> {
    const steps = await swarm.steps(taskId);
    assert.deepEqual(
      steps.map(({ kind, name, state }) => kind === "model" ? state : `${name} ${state}`),
      [
        "done",
        "look done",
        "done",
        payAgain === false ? "pay failed" : "pay done",
        "done",
        "create_subtask done",
        "create_subtask done",
        "done",
        "request_human_review done",
        "done",
        "complete_task done",
      ],
    );
    if (payAgain === false) assert.equal(steps[3]?.output.error_code, "TOOL_OUTCOME_UNKNOWN");
    const events = await swarm.events(taskId);
    const count = (...types: string[]) => events.filter((type) => types.includes(type)).length;
    assert.equal(count("model.completed"), 5);
    assert.equal(count("tool.completed", "tool.failed"), 2);
    assert.equal(count("subtask.created"), 2);
    assert.equal(count("subtask.finished"), 2);
    assert.equal(count("review.requested"), payAgain === undefined ? 1 : 2);
    assert.equal(count("task.completed"), 1);
  }
});

async function runKilledWorker(
  url: string,
  taskId: string,
  moment: Moment,
): Promise<Deno.CommandStatus> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", WORKER, url, taskId, moment],
    cwd: PROJECT_ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  return await process.status;
}

/** A conversation, and the arguments of a task that answers in it. */
async function startConversation({ sql }: Swarm) {
  const [row] = await sql<{ user_id: string; id: string }[]>`
    with owner as (
      insert into auth.users (id, email) values (gen_random_uuid(), 'owner@example.test') returning id
    )
    insert into public.conversations (user_id, title)
    select owner.id, 'Talk' from owner
    returning user_id, id`;
  if (row === undefined) throw new Error("No conversation was created");
  return { ownerId: row.user_id, metadata: { conversation_id: row.id } };
}
