import { isDeepStrictEqual } from "node:util";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { Dice } from "../simulation/dice.ts";
import { type Answer, NativeSession } from "./native_session.ts";
import { QueueModel, Refusal } from "./queue_model.ts";
import { AGENT, type QueueCall, RandomCalls } from "./random_calls.ts";
import { readModelState, readState } from "./queue_state.ts";

/** How to compare. */
export interface ComparisonOptions {
  /** Of the database, as `postgres`. */
  readonly url: string;
  /** A pool of it. */
  readonly sql: Sql;
  /** Of another role or pool: it looks who waits for whom. */
  readonly admin: Sql;
  readonly seed: number;
  /** Calls, ends of transactions and pages of events. */
  readonly steps: number;
}

/** What a comparison found. */
export interface Comparison {
  /** Null if the database did what the model does. */
  readonly difference: string | null;
  /** What happened, for a difference. */
  readonly trace: readonly string[];
  readonly committed: number;
  readonly waited: number;
}

const SESSIONS = 4;
const COMMIT_SHARE = 0.85;
const READ_SHARE = 0.15;

/** Prepares a migrated database for comparisons. */
export async function prepareComparisons(sql: Sql): Promise<void> {
  await sql`
    insert into public.agents (name, slug, system_prompt) values (${AGENT}, ${AGENT}, 'You wait.')
    on conflict do nothing`;
  await sql`update private.quotas set amount = null`;
}

/**
 * Runs a random program of calls over several sessions, whose transactions are held open, committed
 * and rolled back in any order, and compares each answer, and the tables whenever nothing is open,
 * with a model that makes the same calls one after the other in the order of their commits.
 */
export async function compareWithNative(options: ComparisonOptions): Promise<Comparison> {
  const run = new ComparedRun(options);
  let difference: string | null = null;
  try {
    await run.run();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    difference = error.message;
  } finally {
    await run.close();
  }
  const { trace, committed, waited } = run;
  return { difference, trace, committed, waited };
}

class ComparedRun {
  readonly #options: ComparisonOptions;
  readonly #dice: Dice;
  readonly #model = new QueueModel();
  readonly #calls: RandomCalls;
  readonly #sessions: NativeSession[] = [];
  readonly #readers = new Map<string, { cursor: string; readonly ids: number[] }>();
  readonly trace: string[] = [];
  committed = 0;
  waited = 0;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.#dice = new Dice(options.seed, "sessions");
    this.#calls = new RandomCalls(this.#model, new Dice(options.seed, "calls"));
  }

  async run(): Promise<void> {
    const { url, sql, admin, seed, steps } = this.#options;
    await sql`delete from public.tasks`;
    for (let index = 0; index < SESSIONS; index++) {
      this.#sessions.push(await NativeSession.open(url, admin, (seed % 1_000) / 1_000));
    }
    for (let step = 0; step < steps; step++) await this.#step();
    while (this.#open.length > 0) await this.#end(this.#pickAnswered());
    await this.#compareState();
    await this.#compareEvents();
  }

  async close(): Promise<void> {
    // Those that wait get their answers when the others end.
    const waits = ({ call, answer }: NativeSession) => call !== null && answer === null;
    for (const session of this.#sessions.filter((each) => !waits(each))) await session.close();
    for (const session of this.#sessions.filter(waits)) await session.close();
  }

  get #open(): NativeSession[] {
    return this.#sessions.filter(({ call }) => call !== null);
  }

  async #step(): Promise<void> {
    if (this.#dice.chance(READ_SHARE)) return await this.#readEvents();
    const ready = this.#sessions.filter(({ call, answer }) => call === null || answer !== null);
    if (ready.length === 0) throw new RangeError("all sessions wait for each other");
    const session = this.#dice.pick(ready);
    if (session.call !== null) return await this.#end(session);
    const call = this.#calls.next();
    if (call.isAlone && this.#open.length > 0) return;
    await this.#begin(session, call);
  }

  async #begin(session: NativeSession, call: QueueCall): Promise<void> {
    const isAlone = this.#open.length === 0;
    const number = this.#sessions.indexOf(session) + 1;
    const { must } = this.#model.claimable();
    await session.begin(call);
    this.trace.push(
      `session ${number}: ${call.name}(${call.values.join(", ")}) → ${describe(session.answer)}`,
    );
    if (session.answer === null) this.waited++;
    const isClaim = call.name === "claim_tasks";
    if (isClaim && session.answer === null) throw new RangeError("a claim waits for others");
    if (isAlone && session.answer === null) throw new RangeError(`${call.name} waits for nobody`);
    if (isAlone && isClaim && must.length > 0 && isEmpty(session.answer)) {
      throw new RangeError(`the claim leaves ${must.map(({ id }) => id).join(", ")}`);
    }
    if (call.isAlone || isRefused(session.answer)) await this.#end(session);
  }

  /** Ends a transaction. The model makes the calls in this order. */
  async #end(session: NativeSession): Promise<void> {
    const { call, answer } = session;
    if (call === null || answer === null) return;
    const number = this.#sessions.indexOf(session) + 1;
    // Their answers may arrive with the answer to this end.
    const waiting = this.#waiting;
    const isCommitted = !isRefused(answer) && (call.isAlone || this.#dice.chance(COMMIT_SHARE));
    await session.end(isCommitted ? "commit" : "rollback");
    this.trace.push(`session ${number}: ${isCommitted ? "commit" : "rollback"}`);
    if (isCommitted) this.committed++;
    if (isCommitted || isRefused(answer)) this.#apply(call, answer);
    await this.#proceed();
    for (const each of waiting) {
      // The end of another one may have ended it.
      if (each.call === null || each.answer === null) continue;
      this.trace.push(`session ${this.#sessions.indexOf(each) + 1}: → ${describe(each.answer)}`);
      if (isRefused(each.answer)) await this.#end(each);
    }
    if (this.#open.length === 0) await this.#compareState();
  }

  /**
   * Returns when each session has an answer or waits for one whose transaction is open. A call that
   * gets its answer may have given up locks before, with what it took back (`finish_tasks`).
   */
  async #proceed(): Promise<void> {
    for (let before = Infinity; this.#waiting.length < before;) {
      before = this.#waiting.length;
      for (const each of this.#waiting) await each.proceed();
    }
  }

  get #waiting(): NativeSession[] {
    return this.#open.filter(({ answer }) => answer === null);
  }

  #apply(call: QueueCall, answer: Answer): void {
    const expected = this.#expect(call, answer);
    if (!isDeepStrictEqual(expected, answer)) {
      throw new RangeError(`${call.name} answers ${describe(answer)}, not ${describe(expected)}`);
    }
    this.#model.assertConsistent();
  }

  #expect(call: QueueCall, answer: Answer): Answer {
    try {
      return { rows: call.apply("rows" in answer ? answer.rows : null) };
    } catch (error) {
      if (error instanceof Refusal) return { refusal: error.code };
      throw error;
    }
  }

  async #compareState(): Promise<void> {
    const stored = await readState(this.#options.sql);
    const expected = readModelState(this.#model);
    for (const [id, task] of expected) {
      const found = stored.get(id);
      if (isDeepStrictEqual(found, task)) continue;
      throw new RangeError(
        `the task ${id} is\n${JSON.stringify(found)}, not\n${JSON.stringify(task)}`,
      );
    }
    if (stored.size !== expected.size) throw new RangeError(`${stored.size} tasks are stored`);
  }

  /** A client reads a page of a job's events, whatever is open. */
  async #readEvents(limit = this.#dice.int(1, 20)): Promise<void> {
    const jobs = [...this.#model.tasks.values()].filter(({ parentId }) => parentId === null);
    if (jobs.length > 0) await this.#readPage(this.#dice.pick(jobs).id, limit);
  }

  async #readPage(jobId: string, limit: number): Promise<boolean> {
    const reader = this.#readers.get(jobId) ?? { cursor: "", ids: [] };
    const [row] = await this.#options.sql`
      select public.read_events(
        p_task_id => ${jobId}::uuid, p_cursor => ${reader.cursor}, p_limit => ${limit}::int
      ) as page`;
    reader.ids.push(...row?.page.events.map(({ id }: { id: number }) => id));
    this.#readers.set(jobId, { ...reader, cursor: row?.page.next_cursor });
    return row?.page.has_more;
  }

  async #compareEvents(): Promise<void> {
    for (const { id, parentId } of this.#model.tasks.values()) {
      if (parentId !== null) continue;
      while (await this.#readPage(id, 500));
      const rows = await this.#options.sql`
        select id::int from public.task_events where master_task_id = ${id}::uuid order by id`;
      const read = this.#readers.get(id)?.ids.toSorted((one, other) => one - other);
      if (isDeepStrictEqual(read, rows.map((row) => row.id))) continue;
      throw new RangeError(`the reader of ${id} has events ${read}, not ${rows.map((r) => r.id)}`);
    }
  }

  #pickAnswered(): NativeSession {
    const answered = this.#sessions.filter(({ answer }) => answer !== null);
    if (answered.length === 0) throw new RangeError("all sessions wait for each other");
    return this.#dice.pick(answered);
  }
}

function isRefused(answer: Answer | null): boolean {
  return answer !== null && "refusal" in answer;
}

function isEmpty(answer: Answer | null): boolean {
  return answer !== null && "rows" in answer && answer.rows.length === 0;
}

function describe(answer: Answer | null): string {
  if (answer === null) return "waits";
  return "refusal" in answer ? answer.refusal : JSON.stringify(answer.rows);
}
