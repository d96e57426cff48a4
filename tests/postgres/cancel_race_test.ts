import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import {
  assertAllSettled,
  assertNoDeadlock,
  createFamilies,
  createRunning,
  createTasks,
  type Family,
  inLanes,
  modelResult,
  openRaceTrack,
  printFigures,
  type RaceTrack,
  shuffled,
  subtaskIntent,
  subtaskOf,
} from "./race_fixture.ts";

const ROUNDS = 40;

/** A concurrent action on a job while it is cancelled. */
interface Rivalry {
  readonly name: string;
  /** Jobs in the state in which the rival acts. */
  readonly arrange: (track: RaceTrack) => Promise<readonly Job[]>;
  /** The concurrent action of a worker or a person. */
  readonly rival: (job: Job, track: RaceTrack) => Promise<unknown>;
}

/** A master task and the leases that workers hold in its job. */
interface Job {
  readonly masterId: string;
  readonly leases: readonly Lease[];
}

async function runningJobs(track: RaceTrack): Promise<Job[]> {
  return (await createRunning(track, ROUNDS)).map((lease) => (
    { masterId: lease.taskId, leases: [lease] }
  ));
}

async function delegatingJobs(track: RaceTrack): Promise<Job[]> {
  const jobs = await runningJobs(track);
  await inLanes(8, jobs, (job) => track.store.begin(master(job), SUBTASKS));
  return jobs;
}

async function familyJobs(track: RaceTrack): Promise<Job[]> {
  return (await createFamilies(track, ROUNDS, 2)).map(({ parent, children }: Family) => (
    { masterId: parent.taskId, leases: [parent, ...children] }
  ));
}

async function parkedJobs(track: RaceTrack): Promise<Job[]> {
  const jobs = await familyJobs(track);
  await inLanes(8, jobs, (job) => track.store.park(master(job)));
  return jobs.map(({ masterId, leases }) => ({ masterId, leases: leases.slice(1) }));
}

async function reviewedJobs(track: RaceTrack): Promise<Job[]> {
  const jobs = await runningJobs(track);
  await inLanes(8, jobs, (job) => track.store.requestReview(master(job), REVIEW));
  return jobs.map(({ masterId }) => ({ masterId, leases: [] }));
}

function master({ leases: [lease] }: Job): Lease {
  assert.ok(lease !== undefined);
  return lease;
}

const SUBTASKS = [1, 2, 3].map(subtaskIntent);
const REVIEW = {
  seq: 1,
  question: "Go on?",
  options: null,
  context: null,
  kind: "question" as const,
};
const BACKOFF = { retry: "backoff", retryAfterSeconds: null } as const;
const ERROR = { code: "MODEL_UNAVAILABLE", message: "Down" } as const;

const RIVALRIES: readonly Rivalry[] = [
  {
    name: "a finish",
    arrange: runningJobs,
    rival: (job, { store }) => store.finish(master(job), "done", null),
  },
  {
    name: "the end of the last children",
    arrange: parkedJobs,
    rival: ({ leases }, { store }) =>
      Promise.all(leases.map((lease) => store.finish(lease, "done", null))),
  },
  {
    name: "the creation of subtasks",
    arrange: delegatingJobs,
    rival: (job, { store }) => store.spawn(master(job), SUBTASKS.map(subtaskOf)),
  },
  { name: "parking", arrange: familyJobs, rival: (job, { store }) => store.park(master(job)) },
  {
    name: "a review request",
    arrange: runningJobs,
    rival: (job, { store }) => store.requestReview(master(job), REVIEW),
  },
  {
    name: "the answer to a review",
    arrange: reviewedJobs,
    rival: ({ masterId }, { sql }) =>
      sql`select public.respond_to_review(${masterId}::uuid, true, '{}', null)`,
  },
  {
    name: "a checkpoint",
    arrange: familyJobs,
    rival: ({ leases }, { store }) =>
      Promise.all(leases.map((lease) => store.record(lease, [modelResult(7, "text")], []))),
  },
  {
    name: "a failure that is retried",
    arrange: runningJobs,
    rival: (job, { store }) => store.fail(master(job), ERROR, BACKOFF),
  },
  { name: "a yield", arrange: runningJobs, rival: (job, { store }) => store.yield(master(job)) },
];

Deno.test("a cancelled job ends, whatever happens at the same time", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const random = seededRandom(3);
  const cancel = (masterId: string) => sql`select public.cancel_task(${masterId}::uuid)`;

  for (const { name, arrange, rival } of RIVALRIES) {
    await t.step(`cancel against ${name}: ${ROUNDS} rounds`, async () => {
      const jobs = await arrange(track);
      let accepted = 0;

      await inLanes(6, jobs, async (job) => {
        const act = async () => {
          if (await isAccepted(rival(job, track))) accepted++;
        };
        const acts = [() => cancel(job.masterId), act];
        await Promise.all(shuffled(acts, random).map((start) => start()));
        await inLanes(1, job.leases, obey);
      });

      const ended = await endedJobs(jobs);
      printFigures({ ...ended, rivals_accepted: accepted, rivals_refused: ROUNDS - accepted });
    });
  }

  await t.step(`cancel against a claim: ${ROUNDS} rounds`, async () => {
    const masterIds = await createTasks(sql, ROUNDS);
    const claimed: Lease[] = [];

    await Promise.all([
      inLanes(3, shuffled(masterIds, random), (masterId) => cancel(masterId)),
      inLanes(3, masterIds, async () => void claimed.push(...await store.claim("rival", 1))),
    ]);

    const states = await store.heartbeat("rival", claimed);
    assert.ok(states.every(({ state }) => state === "cancelled" || state === "lost"));
    await inLanes(1, claimed, obey);
    const ended = await endedJobs(masterIds.map((masterId) => ({ masterId, leases: [] })));
    printFigures({ ...ended, claimed: claimed.length });
  });

  await t.step("a cancellation that waits for the creation of subtasks ends them too", async () => {
    const [lease] = await createRunning(track, 1);
    assert.ok(lease !== undefined);
    await store.begin(lease, SUBTASKS);
    const waiting = () =>
      track.admin`
        select from pg_stat_activity
        where application_name = 'racers' and wait_event_type = 'Lock'`;

    let cancelling: Promise<unknown> = Promise.resolve();
    await sql.begin(async (worker) => {
      await worker`
        select from private.spawn_subtasks(p_task_id => ${lease.taskId}, p_epoch => ${lease.epoch},
          p_lease_seconds => 60, p_subtasks => ${
        sql.json(SUBTASKS.map((intent) => ({ ...subtaskOf(intent) })))
      })`;
      cancelling = cancel(lease.taskId).execute();
      await waitFor(async () => (await waiting()).length > 0, { what: "the cancellation to wait" });
    });
    await cancelling;

    const statuses = await sql`
      select distinct status from public.tasks where parent_id = ${lease.taskId}::uuid`;
    assert.deepEqual(statuses.map(({ status }) => status), ["cancelled"]);
    await obey(lease);
    await assertAllSettled(sql);
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));

  /** A worker's reaction to the cancellation, if it still has the task. */
  async function obey(lease: Lease): Promise<void> {
    await isAccepted(store.finish(lease, null, null));
  }

  /** Asserts that the jobs have ended and left nothing behind, and counts the outcomes. */
  async function endedJobs(jobs: readonly Job[]): Promise<Record<string, number>> {
    await assertAllSettled(sql);
    const [row] = await sql`
      select
        (count(*) filter (where status = 'completed'))::int as completed,
        (count(*) filter (where status = 'cancelled'))::int as cancelled
      from public.tasks
      where id in (
        select value::uuid
        from jsonb_array_elements_text(${sql.json(jobs.map(({ masterId }) => masterId))})
      )`;
    assert.equal(row?.completed + row?.cancelled, jobs.length);
    return { ...row };
  }
});

/** False if the action came too late; any other refusal is an error. */
async function isAccepted(act: Promise<unknown>): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    const code = error instanceof SwarmError ? error.code : Reflect.get(Object(error), "detail");
    const late = ["LEASE_LOST", "TASK_CANCELLED", "REVIEW_ALREADY_ANSWERED"];
    assert.ok(late.includes(String(code)), String(error));
    return false;
  }
}
