import assert from "node:assert/strict";
import { assertFailed, type Job, runToEnd } from "../e2e/bad_input/ended_job.ts";
import { addAgent } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { call, complete, completeWithResults, scriptTurns } from "../e2e/script.ts";

const save = call("save_intermediate_data", { key: "k", value: 1 });
const handOff = (agent: string) => call("create_subtask", { agent, input: "Go" });

/** A job that would never end, and the cap that ends it. */
interface CappedJob {
  readonly name: string;
  readonly job: Job;
  readonly code: string;
  readonly says: RegExp;
  /** The number of earlier model requests. */
  readonly requestCount: number;
}

const cappedJobs = ({ sql }: Platform): readonly CappedJob[] => [
  {
    name: "wall time",
    job: {
      slug: "slow",
      turns: [async () => {
        await sql`
          update public.tasks
          set created_at = created_at - interval '1 hour', started_at = started_at - interval '1 hour'
          where agent_slug = 'slow'`;
        return save;
      }],
      budget: { max_wall_seconds: 3_600 },
    },
    code: "BUDGET_EXCEEDED",
    says: /used up its max_wall_seconds of 3600$/,
    requestCount: 1,
  },
  {
    name: "input tokens",
    job: { slug: "listener", turns: [save], budget: { max_input_tokens: 1 } },
    code: "BUDGET_EXCEEDED",
    says: /used up its max_input_tokens of 1$/,
    requestCount: 1,
  },
  {
    name: "output tokens",
    job: { slug: "talker", turns: [save], budget: { max_output_tokens: 1 } },
    code: "BUDGET_EXCEEDED",
    says: /used up its max_output_tokens of 1$/,
    requestCount: 1,
  },
  {
    name: "cost",
    job: { slug: "dear", turns: [save], budget: { max_cost_micro_usd: 5 } },
    code: "BUDGET_EXCEEDED",
    // The prompt alone costs more.
    says: /5 of the job's max_cost_micro_usd are left, and the call costs more$/,
    requestCount: 0,
  },
  {
    name: "an unknown cost",
    job: { slug: "priceless", turns: [save], budget: { max_cost_micro_usd: 5 } },
    code: "PRICE_UNKNOWN",
    says: /the model or a tool of its provider has no price$/,
    requestCount: 0,
  },
  {
    name: "steps",
    job: { slug: "stepper", turns: [save], budget: { max_steps: 4 } },
    code: "STEPS_EXCEEDED",
    says: /its 4 steps$/,
    requestCount: 2,
  },
  {
    name: "depth",
    job: { slug: "boss", turns: [handOff("boss")], budget: { max_depth: 0 } },
    code: "DEPTH_EXCEEDED",
    says: /the maximum depth of the job is 0$/,
    requestCount: 1,
  },
  {
    name: "tasks",
    job: {
      slug: "crowd",
      turns: [{
        toolCalls: [...handOff("hand").toolCalls ?? [], ...handOff("hand").toolCalls ?? []],
      }],
      budget: { max_tasks: 2 },
    },
    code: "TASKS_EXCEEDED",
    says: /the job may have at most 2 tasks$/,
    requestCount: 1,
  },
];

Deno.test("a budget ends a job, and the error names it", async (t) => {
  await using platform = await bootPlatform({ db: "native" });
  const { sql, stack: { models } } = platform;
  await addAgent(sql, { slug: "hand" });
  models.addAgent(scriptTurns("hand", complete("done")));
  await sql`
    insert into public.model_prices (
      provider_id, model,
      input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok
    )
    select id, 'dear', 1000000, 1000000, 1000000 from public.llm_providers where name = 'demo'`;
  // The models of a free provider have a price.
  await sql`update public.llm_providers set is_free = false where name = 'demo'`;

  for (const { name, job, code, says, requestCount } of cappedJobs(platform)) {
    await t.step(name, async () => {
      const end = await runToEnd(platform, job);

      assertFailed(end, code, says);
      assert.equal(models.journal.count(job.slug), requestCount);
      assert.equal(end.task.attempts, 0, "a cap does not count as an attempt");
      const modelSteps = end.steps.filter(({ kind, state }) =>
        kind === "model" && state === "done"
      );
      assert.equal(modelSteps.length, requestCount, "charged steps are kept");
    });
  }

  await t.step("a subtask's cap is a result that its parent reads", async () => {
    await addAgent(sql, { slug: "deep" });
    models.addAgent(scriptTurns("deep", handOff("hand")));

    const end = await runToEnd(platform, {
      slug: "calm",
      turns: [handOff("deep"), completeWithResults],
      budget: { max_depth: 1 },
    });

    assert.equal(end.task.status, "completed");
    assert.match(
      JSON.stringify(end.task.output),
      /DEPTH_EXCEEDED.*the maximum depth of the job is 1/s,
    );
  });

  await t.step("a budget is shared by the whole job, subtasks included", async () => {
    await addAgent(sql, { slug: "wordy" });
    models.addAgent(scriptTurns("wordy", complete("word ".repeat(200))));

    const end = await runToEnd(platform, {
      slug: "frugal",
      turns: [handOff("wordy"), completeWithResults],
      budget: { max_output_tokens: 100 },
    });

    const [wordy] = await sql`
      select status from public.tasks where parent_id = ${end.task.id}::uuid`;
    assert.equal(wordy?.status, "completed");
    assertFailed(end, "BUDGET_EXCEEDED", /max_output_tokens of 100$/);
  });
});
