import assert from "node:assert/strict";
import type { OpenReview, Swarm } from "../../client/mod.ts";
import { createSwarm } from "../../client/mod.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { cutAnswerOnce } from "../e2e/cut_answer_model.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { readEvents, untilTask } from "../e2e/task_view.ts";
import { untilJoined } from "../e2e/until_joined.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import type { PageElement } from "../deps.ts";
import { openPage } from "./open_page.ts";

/** What both frameworks' `useJob` and `useReviews` return, as plain values. */
export interface ShownJob {
  readonly status: string | null;
  readonly text: string;
  readonly events: readonly { readonly id: number }[];
  readonly reviews: readonly OpenReview[];
  readonly result: unknown;
  readonly error: { readonly code: string } | null;
  readonly isFollowing: boolean;
  readonly inbox: readonly OpenReview[];
}

/** What the page of a framework does with a click. */
export interface PageActions {
  respond(task: OpenReview, answer: { readonly approved: boolean }): Promise<unknown>;
  stop(): Promise<unknown>;
  continue(input: string): Promise<unknown>;
  retry(): Promise<unknown>;
  detach(): void;
  follow(): void;
}

/** A mounted component that uses both hooks. */
export interface MountedPage {
  /** Passes another id to `useJob`. */
  show(id: string | null): void;
  readonly actions: PageActions;
  unmount(): void;
}

/** Mounts a component that renders {@linkcode pageText} of the hooks' values into `root`. */
export type Mount = (
  root: PageElement,
  swarm: Swarm,
  id: string | null,
) => Promise<MountedPage>;

/** The ids and texts of the elements that show a job. */
export function pageText(job: ShownJob): readonly (readonly [id: string, text: string])[] {
  return [
    ["status", String(job.status)],
    ["text", job.text],
    ["events", job.events.map(({ id }) => id).join()],
    ["questions", job.reviews.map(({ question }) => question).join()],
    ["result", JSON.stringify(job.result ?? null)],
    ["error", job.error?.code ?? ""],
    ["following", String(job.isFollowing)],
    ["inbox", job.inbox.map(({ question }) => question).join()],
  ];
}

/** Proves that the hooks of a framework show and steer jobs. */
export async function proveHooks(
  t: Deno.TestContext,
  { name, mount }: { readonly name: string; readonly mount: Mount },
): Promise<void> {
  await using page = await openPage();
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  const asker = `${name}-asker`;
  stack.models.addAgent(scriptTurns(
    asker,
    call("request_human_review", { question: "Publish?" }),
    complete({ published: true }),
  ));
  await addAgent(sql, { slug: asker });
  let cutJob = Promise.withResolvers<string>();
  await using cutModel = cutAnswerOnce({
    first: "The cut answer is",
    second: "The whole answer.",
    begins: async () => await untilJoined(supabase, await cutJob.promise),
  });
  await addProvider(sql, { name: `${name}-cut`, baseUrl: cutModel.baseUrl });
  await addAgent(sql, { slug: `${name}-cut`, provider: `${name}-cut` });
  const { user: { client: supabase } } = await platform.addUser(name);
  const swarm = createSwarm(supabase);
  const channels = () => supabase.getChannels().map(({ topic }) => topic);
  const storedEvents = async (id: string) => {
    const rows = await sql<{ id: number }[]>`
      select id::int from public.task_events where task_id = ${id}::uuid order by id`;
    return rows.map((row) => row.id).join();
  };
  const waiting = async () => {
    const job = await swarm.run(asker, "Go");
    await untilTask(sql, job.id, "needs_human_review");
    return job;
  };
  try {
    await t.step("a job: its events once each, its review, its result", async () => {
      const job = await swarm.run(asker, "Go");
      const shown = await mount(page.root, swarm, job.id);
      await page.untilText("questions", "Publish?");
      assert.equal(page.text("status"), "needs_human_review");
      await page.untilText("inbox", "Publish?");
      assert.deepEqual(
        channels().filter((topic) => topic.endsWith(job.id)).length,
        1,
        "mounting twice joins once",
      );
      const [review] = await swarm.reviews.list();
      assert.ok(review !== undefined);
      await shown.actions.respond(review, { approved: true });

      await page.untilText("status", "completed");
      assert.equal(page.text("result"), '{"published":true}');
      await page.untilText("following", "false");
      assert.equal(page.text("events"), await storedEvents(job.id));
      assert.equal(page.text("questions"), "");
      await page.untilText("inbox", "");
      shown.unmount();
    });

    await t.step("an unmount in the middle leaves the channel, and the job", async () => {
      const job = await waiting();
      const shown = await mount(page.root, swarm, job.id);
      await page.untilText("questions", "Publish?");
      await waitFor(() => channels().length > 0, { what: "a channel" });

      shown.unmount();
      await waitFor(() => channels().length === 0, { what: "the end of all channels" });
      assert.equal(await job.status(), "needs_human_review");
      await job.cancel();
    });

    await t.step("another id shows only the other job, and null shows none", async () => {
      const [first, second] = [await waiting(), await waiting()];
      const shown = await mount(page.root, swarm, null);
      await page.untilText("status", "null");
      shown.show(first.id);
      await page.untilText("questions", "Publish?");
      shown.show(second.id);
      await page.untilText("events", await storedEvents(second.id));
      shown.show(null);
      await page.untilText("status", "null");
      assert.equal(page.text("events"), "");
      await assert.rejects(async () => await shown.actions.stop(), { code: "NO_JOB" });
      shown.unmount();
      await Promise.all([first.cancel(), second.cancel()]);
    });

    await t.step("stop ends the job; it is retried, answered and continued", async () => {
      const job = await waiting();
      const shown = await mount(page.root, swarm, job.id);
      await page.untilText("status", "needs_human_review");
      await shown.actions.stop();
      await page.untilText("status", "cancelled");
      assert.equal(page.text("error"), "TASK_CANCELLED");
      await page.untilText("following", "false");

      await shown.actions.retry();
      await page.untilText("questions", "Publish?");
      assert.equal(page.text("error"), "");
      const [review] = await swarm.reviews.list();
      if (review !== undefined) await shown.actions.respond(review, { approved: true });
      await page.untilText("status", "completed");

      await page.untilText("following", "false");
      await shown.actions.continue("Again");
      await waitFor(async () => page.text("events") === await storedEvents(job.id), {
        what: "the events of the continued job",
      });
      await page.untilText("status", "completed");
      assert.deepEqual(
        (await readEvents(sql, job.id)).filter(({ type }) => type === "task.completed").length,
        2,
      );
      shown.unmount();
    });

    await t.step("detach stops following, and follow goes on without a gap", async () => {
      const job = await waiting();
      const shown = await mount(page.root, swarm, job.id);
      await page.untilText("questions", "Publish?");
      shown.actions.detach();
      await page.untilText("following", "false");
      await job.respond(job.id, { approved: true });
      await untilTask(sql, job.id, "completed");
      assert.equal(page.text("status"), "needs_human_review");

      shown.actions.follow();
      await page.untilText("status", "completed");
      assert.equal(page.text("events"), await storedEvents(job.id));
      shown.unmount();
    });

    await t.step("the text of a call that was cut is replaced", async () => {
      // An isolate near its CPU limit asks for the whole answer instead.
      for (let attempt = 0; attempt < 5 && !cutModel.hasStreamed; attempt++) {
        cutJob = Promise.withResolvers();
        const job = await swarm.run(`${name}-cut`, "Go", { watch: true });
        const shown = await mount(page.root, swarm, job.id);
        cutJob.resolve(job.id);
        await waitFor(() => page.text("text") !== "", { what: "the answer's text" });
        if (cutModel.hasStreamed) {
          assert.equal(page.text("text"), "The cut answer is");
          cutModel.cut();
        }
        await page.untilText("text", "The whole answer.");
        await page.untilText("result", '"The whole answer."');
        shown.unmount();
      }
      assert.ok(cutModel.hasStreamed, "no answer was streamed");
    });

    await t.step("an unknown job is an error", async () => {
      const shown = await mount(page.root, swarm, crypto.randomUUID());
      await page.untilText("error", "TASK_NOT_FOUND");
      assert.equal(page.text("following"), "false");
      shown.unmount();
    });
  } finally {
    await supabase.realtime.disconnect();
  }
}
