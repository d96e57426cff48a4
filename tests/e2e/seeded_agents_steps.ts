import type { JsonObject } from "../../shared/platform/values/json.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { untilListed } from "../../scripts/demo/until_listed.ts";
import type { DemoUser } from "../../scripts/demo/user_client.ts";
import { created, sendRequest, userHeaders } from "./create_task_endpoint.ts";
import type { Platform } from "./platform.ts";
import { untilTask } from "./task_view.ts";

/** Writes the two files that the seeded agents read in {@linkcode seededAgents}. */
export async function makeNotes(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-notes-" });
  await Deno.writeTextFile(join(folder, "tea.md"), "# Tea\n\nGreen or black.\n");
  await Deno.writeTextFile(join(folder, "milk.md"), "# Milk\n\nA little.\n");
  return folder;
}

/** The behavior of the agents in `seed.sql` on a stack that serves {@linkcode makeNotes}. */
export async function seededAgents(
  t: Deno.TestContext,
  { sql, project, stack }: Platform,
  user: DemoUser,
): Promise<void> {
  async function createTask(agent: string, input: unknown): Promise<string> {
    const headers = userHeaders(project, user);
    const answer = await sendRequest(project, { body: { agent, input }, headers });
    return created(answer).task_id;
  }

  async function approve(taskId: string, response: JsonObject = {}): Promise<void> {
    await untilTask(sql, taskId, "needs_human_review");
    const { error } = await user.client.rpc("respond_to_review", {
      p_task_id: taskId,
      p_approved: true,
      p_response: response,
      p_comments: "Fine.",
    });
    assert.equal(error, null);
  }

  await t.step("the seeded writer requests one review and completes without a tool", async () => {
    const taskId = await createTask("writer", { topic: "we have webhooks" });
    await approve(taskId);

    const { output } = await untilTask(sql, taskId, "completed");
    assert.deepEqual(output, {
      announcement: "We have webhooks. Try it today and tell us what you think.",
      review: "Fine.",
    });
  });

  await t.step("the seeded planner has readers digest the served folder", async () => {
    await untilListed(stack, "files");
    const taskId = await createTask("planner", { folder: "." });
    await approve(taskId, { choice: "Write it" });

    const { output, storage_paths } = await untilTask(sql, taskId, "completed");
    assert.match(JSON.stringify(output), /"files":2/);
    assert.ok(storage_paths.some((path) => path.endsWith("/report.md")));
  });
}
