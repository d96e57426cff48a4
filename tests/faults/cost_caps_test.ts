import assert from "node:assert/strict";
import { type Job, runToEnd } from "../e2e/bad_input/ended_job.ts";
import { addAgent } from "../e2e/operator.ts";
import { bootPlatform } from "../e2e/platform.ts";
import { call, complete, completeWithResults, scriptTurns } from "../e2e/script.ts";

/** One token of input or output costs this much. */
const PRICE = 1;
const CHILDREN = 7;

Deno.test("model calls reserve what they can cost, so that a job stays within its cost cap", async (t) => {
  await using platform = await bootPlatform({ db: "native" });
  const { sql, stack: { models } } = platform;
  const price = async (model: string) => {
    await sql`
      insert into public.model_prices (
        provider_id, model,
        input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok
      )
      select id, ${model}, ${PRICE * 1_000_000}, ${PRICE * 1_000_000}, ${PRICE * 1_000_000}
      from public.llm_providers where name = 'demo'`;
  };
  const addHand = async (slug: string, maxTokens: number | null) => {
    await addAgent(sql, { slug });
    await sql`update public.agents set max_tokens = ${maxTokens} where slug = ${slug}`;
    await price(slug);
    models.addAgent(scriptTurns(slug, complete("done")));
  };
  const crowdOf = (slug: string, hand: string, cap: number | null): Job => ({
    slug,
    turns: [{
      toolCalls: Array.from(
        { length: CHILDREN },
        () => call("create_subtask", { agent: hand, input: "Go" }).toolCalls ?? [],
      ).flat(),
    }, completeWithResults],
    ...(cap === null ? {} : { budget: { max_cost_micro_usd: cap } }),
  });
  const spent = async (taskId: string) => {
    const rows = await sql<{ cost: number; completed: number }[]>`
      select totals.cost_micro_usd::int as cost, (
        select count(*) from public.tasks where parent_id = ${taskId}::uuid and status = 'completed'
      )::int as completed
      from private.job_totals as totals where totals.master_task_id = ${taskId}::uuid`;
    const [{ cost, completed }] = rows as unknown as [{ cost: number; completed: number }];
    return { cost, completed };
  };
  await addHand("hand", null);
  await addHand("brief_hand", 200);
  for (const slug of ["whole", "tight", "fitting", "brief"]) await price(slug);

  const whole = await runToEnd(platform, crowdOf("whole", "hand", null));
  const { cost: wholeCost } = await spent(whole.task.id);
  assert.equal(whole.task.status, "completed");

  await t.step("parallel calls under one cap never spend more together", async () => {
    const cap = Math.round(wholeCost * 0.6);

    const { task } = await runToEnd(platform, crowdOf("tight", "hand", cap));

    const { cost, completed } = await spent(task.id);
    assert.ok(cost <= cap, `${cost} of ${cap}`);
    assert.ok(completed < CHILDREN, "some calls were not affordable");
    assert.match(JSON.stringify(task), /BUDGET_EXCEEDED/);
  });

  await t.step(
    "a job that fits its cap completes, whatever its calls could have cost",
    async () => {
      // Each call could write more than the whole cap allows.
      const { task } = await runToEnd(platform, crowdOf("fitting", "hand", wholeCost * 2));

      assert.deepEqual((await spent(task.id)).completed, CHILDREN);
      assert.equal(task.status, "completed");
    },
  );

  await t.step("calls with a limit of their own fit in parallel", async () => {
    const { task } = await runToEnd(platform, crowdOf("brief", "brief_hand", wholeCost * 2));

    assert.equal(task.status, "completed");
  });

  const [left] = await sql`select count(*)::int as count from private.job_reservations`;
  assert.equal(left?.count, 0, "every reservation was settled");
});
