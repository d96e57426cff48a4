import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { taskContext } from "../../shared/engine/agent/task_context.ts";
import type { TaskStore } from "../../shared/engine/worker/task_store.ts";
import { toolNamed } from "../../shared/engine/agent/agent_states.ts";
import { answered, ask, turnNumber, type WorkerParts } from "../engine/worker/swarm_fixture.ts";

/**
 * Moments in the life of the planner's task, named by its steps: 1 model, 2 `look`, 3 model,
 * 4 `pay`, 5 model, 6 and 7 subtasks, 8 model, 9 review, 10 model, 11 completion.
 */
export type Moment =
  | `${"intended" | "about to record" | "recorded"} ${number}`
  | "spawned"
  | "parked"
  | "asked"
  | "about to finish"
  | "finished";

/** The planner's turns: the consecutive requests of its model. */
const TURNS = [
  [ask("look", { path: "a.md" })],
  [ask("pay", { amount: 5 })],
  [
    ask("create_subtask", { agent: "test-reader", input: "one" }),
    ask("create_subtask", { agent: "test-reader", input: "two" }),
  ],
  [ask("request_human_review", { question: "Publish?" })],
  [ask("complete_task", { output: "published" })],
];

/** How a planner's job runs. */
export interface CrashJobOptions {
  /** Receives the executed calls for the journal, before they answer. */
  readonly sql: Sql;
  readonly plannerTaskId: string;
  /** Called at each moment of the planner's task; that of a doomed worker never returns. */
  readonly onMoment: (moment: Moment) => void;
}

/** The parts of a worker that runs the job and records each model and tool call. */
export function crashJob({ sql, plannerTaskId, onMoment }: CrashJobOptions): WorkerParts {
  const note = async (what: string, idempotencyKey: string | null = null) => {
    await sql`
      insert into public.journal (what, idempotency_key) values (${what}, ${idempotencyKey})`;
  };
  return {
    model: async (call) => {
      const slug = call.context.agent?.slug;
      if (slug !== "test-planner") {
        await note(`reader ${call.context.task.input}`);
        return { calls: [ask("complete_task", { output: "read" })] };
      }
      await note(`planner ${turnNumber(call)}`);
      return { calls: TURNS[turnNumber(call)] ?? [] };
    },
    tools: [toolNamed("look", { isReadOnly: true }), toolNamed("pay")],
    callTool: async ({ toolName, idempotencyKey }) => {
      await note(toolName, idempotencyKey);
      return answered("fine");
    },
    store: (store) => watched(store, plannerTaskId, onMoment),
    leaseSeconds: 1,
    heartbeatSeconds: 0.3,
    slots: 1,
  };
}

/** The same store, which reports each moment of one task. */
function watched(
  store: TaskStore,
  plannerTaskId: string,
  onMoment: (moment: Moment) => void,
): TaskStore {
  const tell = (taskId: string, moments: readonly Moment[]) => {
    if (taskId === plannerTaskId) moments.forEach(onMoment);
  };
  const intended = (steps: readonly { readonly seq: number }[]) =>
    steps.map(({ seq }): Moment => `intended ${seq}`);
  return {
    ...store,
    async claim(workerId, limit, isIdle) {
      const claimed = await store.claim(workerId, limit, isIdle);
      const fresh = claimed.filter(({ context }) => taskContext.parse(context).steps.length === 1);
      for (const { taskId } of fresh) tell(taskId, ["intended 1"]);
      return claimed;
    },
    async begin(lease, intents) {
      const stored = await store.begin(lease, intents);
      tell(lease.taskId, intended(intents));
      return stored;
    },
    async record(lease, results, next) {
      tell(lease.taskId, results.map(({ seq }): Moment => `about to record ${seq}`));
      const outcome = await store.record(lease, results, next);
      tell(lease.taskId, results.map(({ seq }): Moment => `recorded ${seq}`));
      tell(lease.taskId, intended(next));
      return outcome;
    },
    async spawn(lease, subtasks) {
      const outcomes = await store.spawn(lease, subtasks);
      tell(lease.taskId, ["spawned"]);
      return outcomes;
    },
    async park(lease) {
      const outcome = await store.park(lease);
      tell(lease.taskId, ["parked"]);
      return outcome;
    },
    async requestReview(lease, review) {
      const outcome = await store.requestReview(lease, review);
      tell(lease.taskId, ["asked"]);
      return outcome;
    },
    async finish(...end) {
      const [{ taskId }] = end;
      tell(taskId, ["about to finish"]);
      const outcome = await store.finish(...end);
      tell(taskId, ["finished"]);
      return outcome;
    },
  };
}
