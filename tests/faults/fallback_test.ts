import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { ModelApi } from "../../shared/models/llm/model_port.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { readEvents, readSteps, readTask, untilTask } from "../e2e/task_view.ts";
import {
  close,
  type RawAnswer,
  type RawServer,
  respond,
  startRawServer,
} from "../models/llm/raw_server.ts";
import { WIRE_FORMATS } from "../models/llm/wire_format.ts";

/** A failure of a provider, and the code that the step records for it. */
interface Outage {
  readonly name: string;
  readonly answer: RawAnswer;
  readonly code: string;
}

const OUTAGES: readonly Outage[] = [
  { name: "answers 500", answer: answering(500, {}), code: "MODEL_UNAVAILABLE" },
  { name: "is overloaded", answer: answering(503, {}), code: "MODEL_UNAVAILABLE" },
  {
    name: "has an exhausted quota",
    answer: answering(429, { error: { code: "insufficient_quota", message: "Add credit." } }),
    code: "MODEL_AUTH_FAILED",
  },
  { name: "resets the connection", answer: close, code: "MODEL_UNAVAILABLE" },
  {
    name: "no longer serves the model",
    answer: answering(404, { error: { code: "model_not_found", message: "No such model." } }),
    code: "MODEL_NOT_FOUND",
  },
];

const usageSchema = z.looseObject({
  model: z.string(),
  passed_over: z.array(z.object({ provider: z.string(), model: z.string(), code: z.string() })),
});

Deno.test("a job continues with its agent's next provider while the first one is down", async (t) => {
  await using platform = await bootPlatform({ db: "native" });

  for (const { api } of WIRE_FORMATS) {
    for (const outage of OUTAGES) {
      await t.step(`openai ${outage.name}, ${api} answers`, async () => {
        const slug = `${api}-${outage.name.replaceAll(" ", "-")}`;
        const first = startRawServer(outage.answer);
        const second = startRawServer(saying(api, "from the second"));
        try {
          await addAgentWithFallback(platform.sql, slug, { first, second, api });
          const taskId = await createTask(platform, slug);

          const task = await untilTask(platform.sql, taskId, "completed");
          assert.deepEqual([task.output, task.attempts], ["from the second", 0]);
          const [step, ...others] = await readSteps(platform.sql, taskId);
          assert.deepEqual(others, []);
          const usage = usageSchema.parse(await usageOf(platform.sql, taskId));
          assert.equal(usage.model, "second-model");
          assert.deepEqual(usage.passed_over, [
            { provider: `${slug}-first`, model: slug, code: outage.code },
          ]);
          assert.equal(step?.state, "done");
          assert.equal(second.requests.length, 1);
        } finally {
          await Promise.all([first.stop(), second.stop()]);
        }
      });
    }
  }

  await t.step(
    "a job whose providers are all down waits and completes when one returns",
    async () => {
      let isBack = false;
      const say = saying("openai", "back again");
      const first = startRawServer(answering(500, {}));
      const second = startRawServer((connection, number) =>
        isBack ? say(connection, number) : answering(503, {})(connection, number)
      );
      try {
        await addAgentWithFallback(platform.sql, "patient", { first, second, api: "openai" });
        const taskId = await createTask(platform, "patient");
        const pauses: number[] = [];
        for (const failures of [1, 2, 3, 4, 5, 6]) {
          pauses.push(await pauseAfter(platform.sql, taskId, failures));
          isBack = failures === 6;
          await endPause(platform.sql, taskId);
        }

        const task = await untilTask(platform.sql, taskId, "completed");
        assert.equal(task.output, "back again");
        assert.ok(pauses.every((pause, index) => pause > (pauses[index - 1] ?? 0)), String(pauses));
        const retried = (await readEvents(platform.sql, taskId))
          .filter(({ type }) => type === "task.retried");
        assert.equal(retried.length, 6);
      } finally {
        await Promise.all([first.stop(), second.stop()]);
      }
    },
  );

  await t.step(
    "a call that the first provider refuses as invalid does not go to the second",
    async () => {
      const first = startRawServer(answering(400, { error: { message: "No such parameter" } }));
      const second = startRawServer(saying("openai", "never asked"));
      try {
        await addAgentWithFallback(platform.sql, "wrong", { first, second, api: "openai" });
        const taskId = await createTask(platform, "wrong");

        const task = await untilTask(platform.sql, taskId, "failed");
        assert.equal(task.error?.code, "MODEL_REQUEST_INVALID");
        assert.equal(second.requests.length, 0);
      } finally {
        await Promise.all([first.stop(), second.stop()]);
      }
    },
  );
});

function answering(status: number, body: unknown): RawAnswer {
  return (connection) => respond(connection, { status, body: JSON.stringify(body) });
}

function saying(api: ModelApi, text: string): RawAnswer {
  return (connection) =>
    respond(connection, { body: JSON.stringify(formatOf(api).whole({ text })) });
}

function formatOf(api: ModelApi) {
  const format = WIRE_FORMATS.find((known) => known.api === api);
  assert.ok(format);
  return format;
}

/** An agent whose own provider has the chat completions API, and whose fallback has `api`. */
async function addAgentWithFallback(
  sql: Sql,
  slug: string,
  { first, second, api }: {
    readonly first: RawServer;
    readonly second: RawServer;
    readonly api: ModelApi;
  },
): Promise<void> {
  await sql`
    insert into public.llm_providers
      (name, display_name, api, base_url, default_model, requires_api_key)
    values
      (${`${slug}-first`}, 'First', 'openai', ${formatOf("openai").baseUrl(first.origin)},
        'first-model', false),
      (${`${slug}-second`}, 'Second', ${api}, ${formatOf(api).baseUrl(second.origin)},
        'second-model', false)`;
  await addAgent(sql, { slug, provider: `${slug}-first` });
  await sql`
    insert into public.agent_fallbacks (agent_id, priority, provider_id)
    select agent.id, 1, provider.id
    from public.agents as agent, public.llm_providers as provider
    where agent.slug = ${slug} and provider.name = ${`${slug}-second`}`;
}

async function createTask({ project, stack }: Platform, agent: string): Promise<string> {
  const headers = { apikey: stack.secretKey };
  return created(await sendRequest(project, { headers, body: { agent, input: "Go" } })).task_id;
}

/** The recorded usage of a task's only model call. */
async function usageOf(sql: Sql, taskId: string): Promise<unknown> {
  const [row] = await sql`
    select usage from public.task_steps where task_id = ${taskId}::uuid`;
  return row?.usage;
}

/** Waits for a failure of the task; returns the seconds until its retry. */
async function pauseAfter(sql: Sql, taskId: string, failures: number): Promise<number> {
  return await waitFor(async () => {
    const [row] = await sql<{ status: string; attempts: number; pause: number | null }[]>`
      select status, attempts, extract(epoch from run_after - updated_at)::float8 as pause
      from public.tasks where id = ${taskId}::uuid`;
    return row?.status === "pending" && row.attempts === failures ? row.pause : null;
  }, { intervalMs: 20, what: `failure ${failures} of the task` }).catch(async (cause) => {
    throw new Error(JSON.stringify(await readTask(sql, taskId)), { cause });
  });
}

async function endPause(sql: Sql, taskId: string): Promise<void> {
  await sql`update public.tasks set run_after = now() where id = ${taskId}::uuid`;
  await sql`select private.wake_for_due_work()`;
}
