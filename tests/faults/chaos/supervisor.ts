import { seededRandom } from "../../../scripts/seeded_random.ts";
import { shuffled } from "../../postgres/race_fixture.ts";
import type { ChaosDatabase } from "./chaos_database.ts";
import { createMaster, TASKS_OF_A_JOB } from "./chaos_job.ts";
import type { WorkerPool } from "./worker_pool.ts";

/** The faults and answers of a supervisor. */
export interface SupervisorCounts {
  cancelledJobs: number;
  lostMessages: number;
  reviewsAnswered: number;
  restarts: number;
}

/** The dependencies of a supervisor. */
export interface SupervisorOptions {
  readonly seed: number;
  readonly database: ChaosDatabase;
  readonly pool: WorkerPool;
  /** The positions of the master tasks that wait when the workers start. */
  readonly waiting: readonly string[];
  /** The positions of the master tasks that are created later, when no other task waits. */
  readonly arriving: readonly string[];
  readonly cancellations: number;
  readonly timeoutMs: number;
}

const ROUND_PAUSE_MS = 200;
const MOST_ARRIVALS_A_ROUND = 3;
/** The share of all tasks after which no more jobs are cancelled and no more messages are lost. */
const LAST_DISTURBANCE_SHARE = 0.7;
/** The share of finished tasks at which Postgres dies. */
const RESTART_SHARE = 0.4;

/**
 * Does the platform's work, cron and wake-ups, and that of people: it approves and rejects reviews
 * alternately. It creates jobs when no task waits, cancels running ones, deletes messages, and
 * restarts Postgres once.
 *
 * @throws Error if tasks are left after `timeoutMs`, with the first of them.
 */
export async function superviseChaos(options: SupervisorOptions): Promise<SupervisorCounts> {
  const { seed, database, pool, cancellations } = options;
  const random = seededRandom(seed);
  const toCancel = shuffled([...options.waiting, ...options.arriving], random);
  const toCreate = [...options.arriving];
  const taskCount = toCancel.length * TASKS_OF_A_JOB;
  const counts = { cancelledJobs: 0, lostMessages: 0, reviewsAnswered: 0, restarts: 0 };
  const giveUpAtMs = Date.now() + options.timeoutMs;

  while (true) {
    const { sql } = database;
    await sql`select private.reconcile()`;
    pool.wakeAll();
    await answerReviews();
    await createWhenNothingWaits();
    const { endedCount, leftCount } = await progress();
    if (leftCount === 0 && toCreate.length === 0) return counts;
    if (Date.now() > giveUpAtMs) throw new Error(`Tasks are stuck: ${await describeLeft()}`);
    const share = endedCount / taskCount;
    const dueCount = cancellations * Math.min(1, share / LAST_DISTURBANCE_SHARE);
    if (counts.cancelledJobs < dueCount) await cancelOne();
    if (counts.lostMessages < dueCount) await loseMessage();
    if (counts.restarts === 0 && share >= RESTART_SHARE) {
      await database.crashAndRestart();
      counts.restarts++;
    }
    await new Promise((resolve) => setTimeout(resolve, ROUND_PAUSE_MS));
  }

  async function progress(): Promise<{ endedCount: number; leftCount: number }> {
    const [row] = await database.sql`
      select count(finished_at)::int as ended, count(*)::int as all from public.tasks`;
    const endedCount = Number(row?.ended);
    return { endedCount, leftCount: Number(row?.all) - endedCount };
  }

  async function answerReviews(): Promise<void> {
    const open = await database.sql`
      select task_id from public.human_reviews where answered_at is null order by created_at`;
    for (const { task_id } of open) {
      const isApproved = counts.reviewsAnswered++ % 2 === 0;
      // Its job may be cancelled meanwhile, which closes the review.
      await database.sql`
        select public.respond_to_review(${task_id}::uuid, ${isApproved}, '{}', null)
        where exists (
          select from public.human_reviews
          where task_id = ${task_id}::uuid and answered_at is null
        )`;
    }
  }

  async function createWhenNothingWaits(): Promise<void> {
    for (let count = 0; count < MOST_ARRIVALS_A_ROUND; count++) {
      const position = toCreate[0];
      if (position === undefined) return;
      const waiting = await database.sql`
        select from public.tasks where status = 'pending' and run_after is null limit 1`;
      if (waiting.length > 0) return;
      await createMaster(database.sql, position);
      toCreate.shift();
    }
  }

  /** The next job in the seed's order that waits for its subtasks. */
  async function cancelOne(): Promise<void> {
    const parked = await database.sql`
      select id, input ->> 'position' as position
      from public.tasks where parent_id is null and status = 'pending_subtask'`;
    const idOf = new Map(parked.map(({ id, position }) => [String(position), String(id)]));
    const position = toCancel.find((candidate) => idOf.has(candidate));
    if (position === undefined) return;
    const masterId = idOf.get(position) ?? "";
    const [row] = await database.sql`select public.cancel_task(${masterId}::uuid) as count`;
    if (Number(row?.count) > 0) counts.cancelledJobs++;
  }

  async function loseMessage(): Promise<void> {
    const lost = await database.sql`
      delete from pgmq.q_agent_tasks
      where msg_id = (select msg_id from pgmq.q_agent_tasks order by random() limit 1)
      returning msg_id`;
    counts.lostMessages += lost.length;
  }

  async function describeLeft(): Promise<string> {
    const left = await database.sql`
      select id, input, status, epoch, attempts, deliveries, pending_children, worker_id,
        lease_expires_at - clock_timestamp() as lease, error, to_jsonb(logs) as logs
      from public.tasks where finished_at is null order by created_at limit 5`;
    return JSON.stringify({ left, toCreate }, null, 1);
  }
}
