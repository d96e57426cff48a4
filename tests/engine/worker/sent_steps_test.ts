import assert from "node:assert/strict";
import type { AgentState } from "../../../shared/engine/agent/agent_state.ts";
import { decide } from "../../../shared/engine/agent/decide.ts";
import { taskContext } from "../../../shared/engine/agent/task_context.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { jsonValue } from "../../../shared/platform/values/json_schema.ts";
import { loadFastCheck } from "../../deps.ts";
import { type Choices, randomState, RandomTask, type StepRow } from "./random_task.ts";
import { Swarm } from "./swarm_fixture.ts";

const RUNS = 40;
const DECISIONS = 80;

Deno.test("decide() reads the same from the steps that a claim sends as from all of them", async () => {
  const fc = await loadFastCheck();
  const swarm = await Swarm.open();
  const taskId = await swarm.createTask();
  let [comparedCount, unsentCount] = [0, 0];

  async function compare(choices: Choices): Promise<void> {
    let settings = randomState(choices);
    const task = new RandomTask(choices);
    /** Null until the first summary: everything is sent then. */
    let claim: Claim | null = null;
    for (let made = 0; made < DECISIONS; made++) {
      const state = task.stateWith(settings);
      const decision = decide(state);
      if (claim !== null) {
        comparedCount++;
        assert.deepEqual(decide(claim.stateOf(state)), decision);
      }
      if (!task.carryOut(decision)) return;
      // A message or a retry only ever continues a task that no worker holds.
      const isContinued = decision.kind === "fail" || task.steps.at(-1)?.kind === "user";
      if (
        decision.kind === "summarize" || (claim !== null && (isContinued || choices.chance(20)))
      ) {
        claim = await sendSteps(swarm.sql, taskId, [...task.rows.values()]);
        unsentCount += claim.unsentCount;
        if (choices.chance(20)) settings = randomState(choices);
      }
    }
  }

  try {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (make) => {
        await compare({
          pick: (values) => values[make(fc.nat, { max: values.length - 1 })] ?? assert.fail(),
          chance: (percent) => make(fc.nat, { max: 99 }) < percent,
        });
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  } finally {
    await swarm.close();
  }

  assert.ok(comparedCount > 10 * RUNS, `${comparedCount} decisions were compared`);
  assert.ok(unsentCount > 10 * RUNS, `${unsentCount} steps were not sent`);
});

interface Claim {
  readonly unsentCount: number;
  /** The state of a worker that made this claim and has taken the later steps of `state` itself. */
  readonly stateOf: (state: AgentState) => AgentState;
}

/** Stores the steps as those of the task and returns what a claim would send of them. */
async function sendSteps(sql: Sql, taskId: string, rows: readonly StepRow[]): Promise<Claim> {
  await sql`delete from public.task_steps where task_id = ${taskId}::uuid`;
  await sql`
    insert into public.task_steps (task_id, seq, kind, state, name, call_id, input, output, epoch, ended_at)
    select ${taskId}::uuid, seq, kind, state, name, call_id, nullif(input, 'null'),
      nullif(output, 'null'), 1, case when state <> 'started' then now() end
    from jsonb_to_recordset(${sql.json(jsonValue.parse(rows))}) as step (
      seq int, kind text, state text, name text, call_id text, input jsonb, output jsonb
    )`;
  const [row] = await sql`
    select context from private.task_contexts(
      array(select task from public.tasks as task where task.id = ${taskId}::uuid)
    )`;
  const { steps, unsent_turns } = taskContext.parse(row?.context);
  const known = new Map(rows.map((stored) => [stored.seq, stored.state]));
  return {
    unsentCount: rows.length - steps.length,
    stateOf(state) {
      const later = state.steps.filter((step) => known.get(step.seq) !== step.state);
      const changed = new Set(later.map(({ seq }) => seq));
      const current = [...steps.filter(({ seq }) => !changed.has(seq)), ...later];
      return {
        ...state,
        context: { ...state.context, unsent_turns },
        steps: current.sort((a, b) => a.seq - b.seq),
      };
    },
  };
}
