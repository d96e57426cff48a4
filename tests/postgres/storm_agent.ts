import { taskContext } from "../../shared/agent/task_context.ts";
import { SwarmError } from "../../shared/errors/swarm_error.ts";
import { isolateClock } from "../../shared/worker/clock.ts";
import type { ClaimedTask, Lease, TaskStore } from "../../shared/worker/task_store.ts";
import { modelResult, subtaskIntent, subtaskOf } from "./race_fixture.ts";

/** What the agents of a storm did and what became of it. */
export interface StormReport {
  deaths: number;
  zombies: number;
  refusals: number;
  cancellations: number;
  readonly surprises: unknown[];
  /** The first result that the store took for a step, by task and number. */
  readonly firstResults: Map<string, string>;
}

/** What an agent of a storm needs. */
export interface StormPorts {
  readonly store: TaskStore;
  readonly random: () => number;
  readonly report: StormReport;
  /** Tasks that froze: their worker does not beat its heart for them. */
  readonly frozen: Set<string>;
}

/** The worker is gone: nothing more is heard of it. */
class Death extends Error {}

/** Longer than the lease of a storm's tasks. */
const ZOMBIE_MS = 1_300;

/**
 * Runs a claimed task to its end as a worker does, except that between any two writes it may die,
 * or freeze until another one has the task. The master creates three subtasks, every second of
 * them one more.
 */
export async function runStormAgent(claimed: ClaimedTask, ports: StormPorts): Promise<void> {
  const { report, store } = ports;
  try {
    await work(claimed, ports);
  } catch (error) {
    const code = error instanceof SwarmError ? error.code : undefined;
    if (error instanceof Death) report.deaths++;
    else if (code === "LEASE_LOST") report.refusals++;
    else if (code === "TASK_CANCELLED") {
      report.cancellations++;
      await store.finish(claimed, null, null).catch(() => report.refusals++);
    } else report.surprises.push(error);
  }
}

async function work(claimed: ClaimedTask, ports: StormPorts): Promise<void> {
  const { store } = ports;
  const context = taskContext.parse(claimed.context);
  const { depth } = context.task;
  const done = new Set(
    context.steps.filter(({ state }) => state !== "started").map(({ seq }) => seq),
  );

  await think(claimed, 1, done, ports);
  const subtasks = subtaskSeqs(depth, claimed.taskId).filter((seq) => !done.has(seq))
    .map(subtaskIntent);
  if (subtasks.length > 0) {
    await fate(claimed, ports);
    await store.begin(claimed, subtasks);
    await fate(claimed, ports);
    await store.spawn(claimed, subtasks.map(subtaskOf));
    await fate(claimed, ports);
    if (await store.park(claimed) !== "continue") return;
  }
  await think(claimed, 5, done, ports);
  await fate(claimed, ports);
  await store.finish(claimed, "done", null);
}

function subtaskSeqs(depth: number, taskId: string): number[] {
  if (depth === 0) return [2, 3, 4];
  return depth === 1 && Number.parseInt(taskId.slice(0, 2), 16) % 2 === 0 ? [2] : [];
}

/** One model call; a step that is done is not taken again. */
async function think(
  lease: Lease,
  seq: number,
  done: ReadonlySet<number>,
  ports: StormPorts,
): Promise<void> {
  if (done.has(seq)) return;
  const { store, report } = ports;
  const { output: _, state: __, ...intent } = modelResult(seq, "");
  await fate(lease, ports);
  await store.begin(lease, [intent]);
  await fate(lease, ports);
  const answer = crypto.randomUUID();
  const { isCancelled } = await store.record(lease, [modelResult(seq, answer)], []);
  const key = `${lease.taskId}:${seq}`;
  if (!report.firstResults.has(key)) report.firstResults.set(key, answer);
  if (isCancelled) throw new SwarmError("TASK_CANCELLED", "The task is being cancelled");
}

async function fate({ taskId }: Lease, { random, report, frozen }: StormPorts): Promise<void> {
  const draw = random();
  if (draw < 0.04) throw new Death();
  if (draw < 0.06) {
    report.zombies++;
    frozen.add(taskId);
    await isolateClock.sleep(ZOMBIE_MS);
    frozen.delete(taskId);
  }
}
