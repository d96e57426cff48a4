import assert from "node:assert/strict";
import type { JobEvent } from "../../client/mod.ts";
import { holdAgent } from "../../scripts/demo/hold_agent.ts";
import { runCancelledJob } from "../../scripts/demo/run_jobs.ts";
import { createJob, type DemoUser, signUp } from "../../scripts/demo/user_client.ts";
import { plannerAgent } from "../../scripts/models/planner_agent.ts";
import { testsSharing } from "../shared_fixture.ts";
import { bootPlatform } from "./platform.ts";
import { makeNotes } from "./seeded_agents_steps.ts";
import { untilTask } from "./task_view.ts";

const test = testsSharing(async () => {
  const filesFolder = await makeNotes();
  const platform = await bootPlatform({ filesFolder });
  return {
    platform,
    user: await signUp(platform.project, "follower"),
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]();
      await Deno.remove(filesFolder, { recursive: true });
    },
  };
});

/** A client whose channels are joined only after `delay`. */
function joinLate({ client, accessToken }: DemoUser, delay: Promise<void>): DemoUser {
  const channelOf = client.channel.bind(client);
  client.channel = (...given) => {
    const channel = channelOf(...given);
    const subscribe = channel.subscribe.bind(channel);
    channel.subscribe = (...listeners) => {
      void delay.then(() => subscribe(...listeners));
      return channel;
    };
    return channel;
  };
  return { client, accessToken };
}

test("a followed job shows what happened before its channel was joined", async ({ platform }) => {
  const delay = Promise.withResolvers<void>();
  const user = joinLate(await signUp(platform.project, "late"), delay.promise);
  const seen: JobEvent[] = [];

  const followed = await createJob(user, {
    input: { folder: "." },
    onEvent: (event) => seen.push(event),
  });
  await untilTask(platform.sql, followed.taskId, "needs_human_review");
  const handoff = await followed.until(({ type }) => type === "subtask.created", "a handoff");
  delay.resolve();
  await followed.joined;
  await followed.job.cancel();
  await followed.shown;

  assert.equal(handoff.task_id, followed.taskId);
  assert.equal(seen[0]?.type, "task.created");
  assert.ok(!followed.received.some(({ type }) => type === "task.created"));
  assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length);
  await user.client.realtime.disconnect();
});

test("a wait for an event fails when the job ends without it", async ({ platform, user }) => {
  using _held = holdAgent(platform.stack.models, plannerAgent);
  const followed = await createJob(user, { input: { folder: "." } });

  const waiting = followed.until(({ type }) => type === "review.requested", "a review");
  await followed.job.cancel();

  await assert.rejects(waiting, /The job ended without a review/);
});

test("the demo's second job is cancelled while its readers work", async ({ platform, user }) => {
  const { models } = platform.stack;

  const { taskId } = await runCancelledJob({ user, folder: ".", models, view: null });

  const rows = await platform.sql<{ agent_slug: string; status: string }[]>`
    select agent_slug, status from public.tasks where master_task_id = ${taskId}
    order by agent_slug`;
  assert.deepEqual(rows.map((row) => `${row.agent_slug} ${row.status}`), [
    "planner cancelled",
    "reader cancelled",
    "reader cancelled",
  ]);
});
