import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import { type DemoUser, signUp } from "../../scripts/demo/user_client.ts";
import { type SlowModel, startSlowModel } from "../../lab/bench/slow_model.ts";
import { type Broadcast, listen } from "./channel_listener.ts";
import { addAgent, addProvider } from "./operator.ts";
import type { Platform } from "./platform.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { untilTask } from "./task_view.ts";

/** Each answer takes three seconds. */
const ANSWER = { pieces: 60, pieceEachMs: 50 };

const createdSchema = z.object({
  task_id: z.string(),
  channels: z.object({ task: z.string(), master: z.string() }),
});
const deltaSchema = z.object({ step_seq: z.int(), offset: z.int(), text: z.string() });
const completedSchema = z.object({ step_seq: z.int(), text: z.string() });

async function createTask({ client }: DemoUser, watch: boolean) {
  const { data } = await client.functions.invoke("supaswarm-create-task", {
    body: { agent: "slow", input: "Write", watch },
  });
  return createdSchema.parse(data);
}

function dataOf(received: readonly Broadcast[], type: string): unknown[] {
  return received.filter(({ event }) => event === type).map(({ payload }) => payload.data);
}

function withoutDeltas(received: readonly Broadcast[]): unknown[] {
  return received.filter(({ event }) => event !== "model.delta").map(({ payload }) => payload.seq);
}

/** The dependencies of each step. */
interface Scene {
  readonly platform: Platform;
  readonly model: SlowModel;
  /** Holds the answers of the model until the returned function is called. */
  hold(): () => void;
  readonly owner: DemoUser;
  readonly stranger: DemoUser;
}

Deno.test("text streams only to users who watch", async (t) => {
  let held = Promise.resolve();
  await using model = startSlowModel({ ...ANSWER, begins: () => held });
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  await using platform = await sharedPlatform();
  await addProvider(platform.sql, { name: "slow", baseUrl: model.baseUrl });
  await addAgent(platform.sql, { slug: "slow", provider: "slow" });
  const [owner, stranger] = await Promise.all([
    signUp(platform.project, `ada-${crypto.randomUUID()}`),
    signUp(platform.project, `eve-${crypto.randomUUID()}`),
  ]);
  const scene = { platform, model, hold, owner, stranger };
  try {
    await t.step("a job that is watched from its creation streams on its channel", async () => {
      // An isolate near its CPU limit asks for the whole answer instead.
      for (let attempt = 0; attempt < 5 && model.counts.streamed === 0; attempt++) {
        await streamsOnTheJobsChannel(scene);
      }
      assert.ok(model.counts.streamed > 0, "no answer was streamed");
    });
    await t.step("a job that nobody watches gets its complete answer", () => answersWhole(scene));
    await t.step("only the owner can watch, and gets the end of the watch", () => watches(scene));
  } finally {
    await Promise.all([owner, stranger].map(({ client }) => client.realtime.disconnect()));
  }
});

async function streamsOnTheJobsChannel({ platform, model, hold, owner }: Scene): Promise<void> {
  const release = hold();
  const { task_id, channels } = await createTask(owner, true);
  const [job, task] = await Promise.all([
    listen(owner.client, channels.master),
    listen(owner.client, channels.task),
  ]);
  release();
  await untilTask(platform.sql, task_id, "completed");
  await Promise.all([job.until("task.completed"), task.until("task.completed")]);

  const deltas = z.array(deltaSchema).parse(dataOf(job.received, "model.delta"));
  const answers = z.array(completedSchema).parse(dataOf(job.received, "model.completed"));
  if (model.counts.streamed > 0) assert.ok(deltas.length >= 2, "text flows");
  for (const { step_seq, offset, text } of deltas) {
    const answer = answers.find((completed) => completed.step_seq === step_seq);
    assert.equal(answer?.text.slice(offset, offset + text.length), text);
  }
  assert.deepEqual(
    dataOf(task.received, "model.delta"),
    [],
    "the text is sent on one channel only",
  );
  const seqs = withoutDeltas(job.received);
  assert.equal(new Set(seqs).size, seqs.length, "each event arrives once");
  // The channel that was joined later misses only what came before.
  const ofTask = withoutDeltas(task.received);
  const both = Math.min(seqs.length, ofTask.length);
  assert.ok(both >= 2, "the answer and the end come after both were joined");
  assert.deepEqual(seqs.slice(-both), ofTask.slice(-both));
}

async function answersWhole({ platform, model, hold, owner }: Scene): Promise<void> {
  const release = hold();
  const before = { ...model.counts };
  const { task_id, channels } = await createTask(owner, false);
  const job = await listen(owner.client, channels.master);
  release();
  await untilTask(platform.sql, task_id, "completed");
  await job.until("task.completed");

  assert.deepEqual(dataOf(job.received, "model.delta"), []);
  assert.equal(model.counts.streamed, before.streamed);
  assert.ok(model.counts.whole > before.whole);
}

async function watches({ owner, stranger }: Scene): Promise<void> {
  const { task_id } = await createTask(owner, false);

  const refused = await stranger.client.rpc("watch_task", { p_task_id: task_id });
  const { data: until } = await owner.client.rpc("watch_task", { p_task_id: task_id });

  assert.deepEqual([refused.data, refused.error?.details, refused.status], [
    null,
    "TASK_NOT_FOUND",
    404,
  ]);
  const seconds = (Date.parse(z.string().parse(until)) - Date.now()) / 1_000;
  assert.ok(seconds > 30 && seconds <= 61, `watched for ${seconds} s`);
}
