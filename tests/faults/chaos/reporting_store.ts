import { z } from "../../../shared/vendor/zod.js";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import type { ClaimedTask, Lease, TaskStore } from "../../../shared/engine/worker/task_store.ts";
import type { Point } from "./seeded_faults.ts";

/** Receives the positions of a worker's store. */
export interface Haunting {
  /** Returns when the worker may continue; never, for a worker that is killed here. */
  meet(encounter: Encounter): Promise<void>;
  /** A write was refused, since another worker has the lease. */
  refused(lease: Lease): Promise<void>;
}

/** A worker at a point of some steps. */
export interface Encounter extends Lease {
  readonly position: string;
  readonly seqs: readonly number[];
  readonly point: Point;
}

const claimedContext = z.object({
  task: z.object({ input: z.object({ position: z.string() }) }),
  steps: z.array(z.object({ seq: z.int(), state: z.string() })),
});

/** The same store, which stops at both points of every step, and reports refused writes. */
export function reportingStore(store: TaskStore, { meet, refused }: Haunting): TaskStore {
  const positions = new Map<string, string>();

  async function arrive(lease: Lease, point: Point, seqs: readonly number[]): Promise<void> {
    const { taskId, epoch } = lease;
    const position = positions.get(taskId);
    if (position === undefined || seqs.length === 0) return;
    await meet({ taskId, epoch, position, seqs, point });
  }

  /** Stops before the first steps that a claim began. */
  async function receive(claimed: readonly ClaimedTask[]): Promise<readonly ClaimedTask[]> {
    for (const { context, taskId, epoch } of claimed) {
      const { task, steps } = claimedContext.parse(context);
      positions.set(taskId, task.input.position);
      if (steps.length !== 1) continue;
      const started = steps.filter(({ state }) => state === "started");
      await arrive({ taskId, epoch }, "before", seqsOf(started));
    }
    return claimed;
  }

  async function write<T>(lease: Lease, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof SwarmError && error.code === "LEASE_LOST") await refused(lease);
      throw error;
    }
  }

  return {
    ...store,
    claim: async (...args) => await receive(await store.claim(...args)),
    async begin(lease, intents) {
      const stored = await write(lease, store.begin(lease, intents));
      await arrive(lease, "before", seqsOf(stored.filter(({ state }) => state === "started")));
      return stored;
    },
    async record(lease, results, next) {
      await arrive(lease, "after", seqsOf(results));
      const outcome = await write(lease, store.record(lease, results, next));
      await arrive(lease, "before", seqsOf(next));
      return outcome;
    },
    async spawn(lease, subtasks) {
      const outcomes = await write(lease, store.spawn(lease, subtasks));
      await arrive(lease, "after", seqsOf(subtasks));
      return outcomes;
    },
    async finish(lease, output, reference, results = []) {
      // A completion is written when it is planned, so nothing of it runs in between.
      const completion = results.filter(({ name }) => name === "complete_task");
      await arrive(lease, "before", seqsOf(completion));
      await arrive(lease, "after", seqsOf(results));
      return await write(lease, store.finish(lease, output, reference, results));
    },
    beginAgain: (lease, seqs) => write(lease, store.beginAgain(lease, seqs)),
    requestReview: (lease, review) => write(lease, store.requestReview(lease, review)),
    park: (lease) => write(lease, store.park(lease)),
    fail: (lease, error, policy) => write(lease, store.fail(lease, error, policy)),
    yield: (lease, options) => write(lease, store.yield(lease, options)),
    loseCall: (lease, cutCall) => write(lease, store.loseCall(lease, cutCall)),
  };
}

function seqsOf(steps: readonly { readonly seq: number }[]): number[] {
  return steps.map(({ seq }) => seq);
}
