import assert from "node:assert/strict";
import { EventReader } from "../../client/event_reader.ts";
import { JobChannels } from "../../client/job_channels.ts";
import type { JobEvent } from "../../client/job_event.ts";
import type { SupabaseLike } from "../../client/supabase.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import { storedIds } from "./event_reader.ts";
import {
  assertNoDeadlock,
  createFamilies,
  inLanes,
  openRaceTrack,
  printFigures,
} from "./race_fixture.ts";

const SUBTASKS = 50;
const EVENTS = 10_000;
const EVENTS_PER_TRANSACTION = 5;
const CUTS = 1_000;
const MAX_PAGE_SIZE = 40;
/** So often another transaction, which has written, begins; the cursors' base moves only then. */
const CUTS_PER_FOREIGN_TRANSACTION = 100;

Deno.test("1,000 cuts of the connection while 50 subtasks write 10,000 events lose none", async () => {
  await using track = await openRaceTrack({ connections: 12 });
  const { sql } = track;
  const [family] = await createFamilies(track, 1, SUBTASKS);
  assert.ok(family !== undefined);
  const { parent, children } = family;
  const random = seededRandom(28);
  const project = fakeProject(sql, { random, jobId: parent.taskId });
  const received: JobEvent[] = [];
  let longestCursor = 0;

  await using foreign = await openForeignTransactions(sql);
  const reading = readWithCuts(project, {
    jobId: parent.taskId,
    random,
    onEvent: (event, cursor) => {
      received.push(event);
      longestCursor = Math.max(longestCursor, cursor.length);
    },
    onCut: async (cut) => {
      if (cut % CUTS_PER_FOREIGN_TRANSACTION === 0) await foreign.beginNext();
    },
  });
  const writing = inLanes(
    8,
    shuffledRounds(children, random),
    (child) => writeEvents(sql, child, random),
  );
  const [cuts] = await Promise.all([reading, writing.then(() => project.endJob())]);

  const stored = await storedIds(sql, parent.taskId);
  const { lostAnswers } = project;
  printFigures({ events: stored.length, cuts, longest_cursor: longestCursor, ...lostAnswers() });
  assert.ok(stored.length >= EVENTS && cuts >= CUTS);
  assert.deepEqual(received.map(({ id }) => id).toSorted((a, b) => a - b), stored);
  const lastOf = new Map<string, number>();
  for (const { id, task_id } of received) {
    assert.ok(id > (lastOf.get(task_id) ?? 0), "the events of a task are in order");
    lastOf.set(task_id, id);
  }
  await assertNoDeadlock(track);
});

/**
 * Reads some events with a new reader that knows only the cursor of the one before, again and again,
 * until the job has ended. Returns how often a reader was cut.
 */
async function readWithCuts(
  project: SupabaseLike,
  { jobId, random, onEvent, onCut }: {
    readonly jobId: string;
    readonly random: () => number;
    readonly onEvent: (event: JobEvent, cursor: string) => void;
    readonly onCut: (cut: number) => Promise<void>;
  },
): Promise<number> {
  let after: string | null = null;
  for (let cuts = 0;; cuts++) {
    await onCut(cuts);
    const reader: EventReader = new EventReader(project, new JobChannels(project), {
      jobId,
      after,
    });
    const cut = new AbortController();
    const timer = setTimeout(() => cut.abort(), 200 * random());
    let left = Math.ceil(18 * random());
    try {
      for await (const event of reader.read(cut.signal)) {
        onEvent(event, reader.cursor);
        if (--left === 0) break;
      }
      if (left > 0) return cuts;
    } catch (error) {
      if (!cut.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
    after = reader.cursor;
  }
}

interface ForeignTransactions extends AsyncDisposable {
  /** Ends the open transaction, and begins one more that writes and stays open. */
  beginNext(): Promise<void>;
}

/** Transactions of the database that have nothing to do with the job; one is always open. */
async function openForeignTransactions(sql: Sql): Promise<ForeignTransactions> {
  const session = await sql.reserve();
  const begin = async () => {
    // Nobody analyzes the tables of this server meanwhile.
    await session`analyze private.task_events`;
    await session`begin`;
    await session`select pg_current_xact_id()`;
  };
  await begin();
  return {
    async beginNext() {
      await session`commit`;
      await begin();
    },
    async [Symbol.asyncDispose]() {
      await session`commit`;
      session.release();
    },
  };
}

/** Each subtask's transactions, in random order. */
function shuffledRounds(children: readonly Lease[], random: () => number): Lease[] {
  // Some of them are rolled back.
  const rounds = 1.25 * EVENTS / EVENTS_PER_TRANSACTION / children.length;
  return Array.from({ length: Math.ceil(rounds) }, () => children).flat()
    .map((child) => ({ child, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ child }) => child);
}

/** Writes events in a transaction that is held, rolled back, or held for long. */
async function writeEvents(sql: Sql, { taskId }: Lease, random: () => number): Promise<void> {
  const heldSeconds = random() < 0.01 ? 0.5 : random() < 0.3 ? 0.01 * random() : 0;
  const isRolledBack = random() < 0.1;
  await sql.begin(async (held) => {
    await held`select from public.tasks where id = ${taskId} for no key update`;
    for (let event = 0; event < EVENTS_PER_TRANSACTION; event++) {
      await held`
        select private.emit_event(id, master_task_id, 'data.saved', '{"step_seq": 1, "key": "k"}')
        from public.tasks where id = ${taskId}`;
    }
    if (heldSeconds > 0) await held`select pg_sleep(${heldSeconds})`;
    if (isRolledBack) await held`select 1 / 0`;
  }).catch((error) => assert.equal(error.code, "22012"));
}

interface FakeProject extends SupabaseLike {
  readonly lostAnswers: () => { readonly lost_answers: number };
  endJob(): void;
}

/** The database behind a network that loses answers, without Realtime. */
function fakeProject(
  sql: Sql,
  { random, jobId }: { readonly random: () => number; readonly jobId: string },
): FakeProject {
  let lost = 0;
  let finishedAt: string | null = null;
  const refuse = () => {
    throw new Error("The reader does not use this");
  };
  const deadChannel = {
    on: () => deadChannel,
    subscribe: () => deadChannel,
  };
  return {
    functions: { invoke: refuse },
    auth: { getSession: refuse },
    storage: { from: refuse },
    schema: refuse,
    rpc: (name: string, args: object = {}) => {
      assert.equal(name, "read_events");
      const { p_task_id, p_cursor } = args as Record<string, string>;
      // A cut reader uses few events of a page, and the pages of one job end at other events.
      const limit = Math.ceil(MAX_PAGE_SIZE * random());
      return answered(async () => {
        const [row] = await sql`
          select public.read_events(${p_task_id ?? ""}::uuid, ${
          p_cursor ?? null
        }, ${limit}) as page`;
        if (random() < 0.02) {
          lost++;
          throw new TypeError("fetch failed");
        }
        return row?.page;
      });
    },
    from: () =>
      new Proxy({}, {
        get: (_, method) =>
          method === "then"
            ? undefined
            : () => chained(() => [{ id: jobId, finished_at: finishedAt }]),
      }),
    channel: () => deadChannel,
    removeChannel: () => Promise.resolve(),
    getChannels: () => [],
    realtime: { disconnect: () => {} },
    lostAnswers: () => ({ lost_answers: lost }),
    endJob() {
      finishedAt = new Date().toISOString();
    },
  };
}

/** A query whose every method returns it. */
function chained(rows: () => unknown): object {
  const query: object = new Proxy({}, {
    get: (_, method) =>
      method === "then"
        ? (resolve: (answer: object) => void) => resolve({ data: rows(), error: null, status: 200 })
        : () => query,
  });
  return query;
}

function answered(run: () => Promise<unknown>): object {
  return {
    abortSignal: () => run().then((data) => ({ data, error: null, status: 200 })),
  };
}
