import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { listen } from "./channel_listener.ts";
import { addAgent } from "./operator.ts";
import { call, complete, scriptTurns } from "./script.ts";
import { readTask, untilTask } from "./task_view.ts";

/** Asks a person, writes a file, completes: everything that an owner can see of a task. */
const CAREFUL = scriptTurns(
  "careful",
  call("request_human_review", { question: "Go on?" }),
  call("save_intermediate_data", { key: "report.md", value: "# Mine" }),
  complete({ report: "report.md" }),
);

const OWN_TABLES = ["tasks", "task_steps", "task_events", "human_reviews"];

const createdSchema = z.object({
  task_id: z.string(),
  channels: z.object({ task: z.string(), master: z.string() }),
});

Deno.test("an external client follows its own task to the end", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  stack.models.addAgent(CAREFUL);
  await addAgent(sql, { slug: "careful" });
  const { user: owner } = await platform.addUser("ada");
  try {
    const { data } = await owner.client.functions.invoke("supaswarm-create-task", {
      body: { agent: "careful", input: "Write a report" },
    });
    const { task_id: taskId, channels } = createdSchema.parse(data);
    const ownTask = await listen(owner.client, channels.task);
    const ownJob = await listen(owner.client, channels.master);

    await t.step("the owner reads the task, its steps, its trace and the question", async () => {
      assert.deepEqual([ownTask.joined, ownJob.joined], ["SUBSCRIBED", "SUBSCRIBED"]);
      await untilTask(sql, taskId, "needs_human_review");
      for (const table of OWN_TABLES) {
        const { data: rows, error } = await owner.client.from(table).select("*");
        assert.equal(error, null, table);
        assert.ok((rows ?? []).length > 0, table);
      }
    });

    await t.step("the owner answers and receives the private broadcasts to the end", async () => {
      const { data: status, error } = await owner.client.rpc("respond_to_review", {
        p_task_id: taskId,
        p_approved: true,
        p_response: {},
        p_comments: "Go on.",
      });
      assert.deepEqual([status, error], ["pending", null]);
      await Promise.all([ownTask.until("task.completed"), ownJob.until("task.completed")]);

      for (const { received } of [ownTask, ownJob]) {
        const types = received.map(({ event }) => event);
        const answered = types.indexOf("review.answered");
        assert.ok(answered >= 0 && answered < types.indexOf("data.saved"), types.join());
        assert.equal(types.at(-1), "task.completed");
        const seqs = received.flatMap(({ payload }) => payload.seq === null ? [] : [payload.seq]);
        assert.deepEqual(seqs, [...seqs].sort((a, b) => Number(a) - Number(b)));
        assert.ok(received.every(({ payload }) => payload.task_id === taskId));
      }
      const { storage_paths: [path = ""] } = await readTask(sql, taskId);
      const file = await owner.client.storage.from("supaswarm-data").download(path);
      assert.equal(await file.data?.text(), "# Mine");
    });
  } finally {
    await owner.client.realtime.disconnect();
  }
});
