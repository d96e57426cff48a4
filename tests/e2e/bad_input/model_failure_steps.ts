import assert from "node:assert/strict";
import type { ScriptedFailure } from "../../../scripts/models/scripted_failure.ts";
import type { Platform } from "../platform.ts";
import { complete } from "../script.ts";
import { assertFailed, MAX_ATTEMPTS, retriedCodes, runToEnd } from "./ended_job.ts";
import type { Step } from "./step.ts";

/** Responses of a provider in place of an answer. */
export async function modelFailureSteps(step: Step, platform: Platform): Promise<void> {
  const { models } = platform.stack;
  const final: readonly (readonly [string, number, string])[] = [
    ["refused-key", 401, "MODEL_AUTH_FAILED"],
    ["refused-request", 400, "MODEL_REQUEST_INVALID"],
    ["unknown-model", 404, "MODEL_NOT_FOUND"],
  ];
  for (const [slug, status, code] of final) {
    await step(`a model's ${status} fails the task at the first attempt`, async () => {
      const end = await runToEnd(platform, {
        slug,
        turns: [complete("too late")],
        failures: [{
          kind: "status",
          status,
        }],
      });

      assertFailed(end, code, /provider 'demo'.*HTTP 4/s);
      assert.deepEqual([end.task.attempts, models.journal.count(slug)], [0, 1]);
    });
  }

  await step("a model's 429 waits as requested without using an attempt", async () => {
    const failure = { kind: "rate_limit", retryAfterSeconds: 1 } as const;
    const end = await runToEnd(platform, {
      slug: "busy",
      turns: [complete("done")],
      failures: [failure],
    });

    const [first, second] = models.journal.entries().filter(({ agent }) => agent === "busy");
    assert.deepEqual([end.task.output, end.task.attempts], ["done", 0]);
    assert.deepEqual(retriedCodes(end), ["MODEL_RATE_LIMITED"]);
    assert.ok(first && second && second.atMs - first.atMs >= 1_000);
  });

  const passing: readonly (readonly [string, ScriptedFailure])[] = [
    ["a 500", { kind: "status", status: 500 }],
    ["a cut stream", { kind: "cut", afterChunks: 3 }],
  ];
  for (const [name, failure] of passing) {
    await step(`after ${name} the model call is retried`, async () => {
      const slug = name.replaceAll(" ", "-");
      const end = await runToEnd(platform, {
        slug,
        turns: [complete("done")],
        failures: [failure],
        isWatched: failure.kind === "cut",
      });

      assert.deepEqual([end.task.output, end.task.attempts], ["done", 1]);
      assert.deepEqual(retriedCodes(end), ["MODEL_UNAVAILABLE"]);
      assert.equal(models.journal.count(slug), 2);
    });
  }

  await step("a model that keeps failing ends the task with a dead letter", async () => {
    const failures: ScriptedFailure[] = [1, 2, 3].map(() => ({ kind: "status", status: 503 }));
    const end = await runToEnd(platform, { slug: "down", turns: [complete("never")], failures });

    assertFailed(end, "MODEL_UNAVAILABLE", /503/);
    assert.equal(models.journal.count("down"), MAX_ATTEMPTS);
    const buried = await platform.sql`
      select from public.dead_letters where task_id = ${end.task.id}::uuid`;
    assert.equal(buried.length, 1);
  });
}
