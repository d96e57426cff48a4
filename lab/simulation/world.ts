import { BIRTH_MS, seedRandomness, settle, time, useTimers } from "./virtual_globals.ts";
import { createHash } from "node:crypto";
import { type AutomationPlan, Automations } from "./automations.ts";
import { type ClientPlan, Clients } from "./clients.ts";
import { Dice } from "./dice.ts";
import { Disturbances } from "./disturbances.ts";
import type { Violation } from "./invariants.ts";
import { Isolates } from "./isolates.ts";
import { judgeDeletedUsers } from "./judge_deleted_users.ts";
import { judgeJournal } from "./judge_journal.ts";
import { Journal } from "./journal.ts";
import { leasesOf } from "./leases_of.ts";
import type { MemoryDatabase } from "./memory_database.ts";
import { Operators } from "./operators.ts";
import { Platform } from "./platform.ts";
import { QuietQueue } from "./quiet_queue.ts";
import { Scheduler } from "./scheduler.ts";
import { createTaskFunction } from "./task_function.ts";
import { Trace } from "./trace.ts";
import { createWebhookFunction } from "./webhook_function.ts";
import { type FaultShares, NO_FAULTS, type WorldPorts } from "./world_ports.ts";

/** A world with more events goes round in a circle. */
const MAX_EVENTS = 30_000;
const DAY_MS = 86_400_000;
/** Without faults everything ends within this time. */
const DRAIN_MS = 3_600_000;
const DRAIN_CHECK_MS = 2_000;
/** A tick after the end, however late, and the last statements of processes that gave up. */
const AFTERMATH_MS = 95_000;
/** Commits between two checks; all worlds check at their end. */
const CHECK_EVERY = [1, 32, 32, 32, 32, 32];
/** What they do makes no task claimable before it was. */
const QUIET_STATEMENTS: ReadonlySet<string> = new Set([
  ...["look", "net", "read_events", "events", "watch_task"],
  ...["begin_steps", "begin_again", "record_steps", "heartbeat", "lose_call", "broadcast_delta"],
  ...["stalled_ms", "stop_worker", "wake_function"],
  ...["claim_webhook_messages", "record_webhook_attempt", "renew_webhook_messages"],
]);
/** What may open a question to a person. */
const ASKING_STATEMENTS: ReadonlySet<string> = new Set(["request_review", "retry_task"]);

/** What a world is about. Most have one kind of fault, so that faults do not hide each other. */
const FOCUSES: readonly Partial<FaultShares>[] = [
  {},
  { death: 0.02 },
  { freeze: 0.03 },
  { freeze: 0.05 },
  { database: 0.05 },
  { model: 0.25 },
  { tool: 0.3 },
  { wake: 0.3, cron: 0.2 },
  { cpu: 0.05 },
  {
    death: 0.008,
    freeze: 0.01,
    database: 0.02,
    model: 0.08,
    tool: 0.08,
    wake: 0.1,
    cron: 0.1,
    cpu: 0.01,
  },
];

/** How to run a world. */
export interface WorldOptions {
  /** Disturbances that do not happen, by id. @default none */
  readonly omitted?: ReadonlySet<string>;
  /** Returns readable lines of what happened. @default false */
  readonly isTraced?: boolean;
  /** Returns the hash of all tables. @default false */
  readonly isHashed?: boolean;
  /** False keeps what earlier worlds left in the database's caches and tables. @default true */
  readonly isFresh?: boolean;
}

/** How a world ended. */
export interface WorldReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** The disturbances that happened, by id. */
  readonly disturbances: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
  /** What workers read of the tasks that they claimed. */
  readonly contexts: readonly unknown[];
  readonly hash: string | null;
}

/** Runs the world of a seed. */
export async function runWorld(
  database: MemoryDatabase,
  seed: number,
  options: WorldOptions = {},
): Promise<WorldReport> {
  if (options.isFresh ?? true) database.reset();
  return await new World(database, seed, options).run();
}

class World {
  readonly #database: MemoryDatabase;
  readonly #seed: number;
  readonly #options: WorldOptions;
  readonly #dice: Dice;
  readonly #scheduler: Scheduler;
  readonly #disturbances: Disturbances;
  readonly #journal = new Journal();
  readonly #violations = new Map<string, Violation>();
  readonly #checkEvery: number;
  readonly #trace: Trace | null;
  readonly #queue: QuietQueue;
  #shares: FaultShares;
  readonly #hasFaults: boolean;
  #commits = 0;
  /** Commits at the last look whether everything has ended. */
  #lookedAtCommit = -1;

  constructor(database: MemoryDatabase, seed: number, options: WorldOptions) {
    this.#database = database;
    this.#seed = seed;
    this.#options = options;
    this.#dice = new Dice(seed, "world");
    time.ms = BIRTH_MS + this.#dice.int(0, DAY_MS - 1);
    seedRandomness(seed);
    this.#scheduler = new Scheduler(new Dice(seed, "scheduler"));
    this.#disturbances = new Disturbances(options.omitted ?? new Set());
    this.#shares = { ...NO_FAULTS, ...this.#dice.pick(FOCUSES) };
    this.#hasFaults = Object.values(this.#shares).some((share) => share > 0);
    this.#checkEvery = this.#dice.pick(CHECK_EVERY);
    this.#trace = options.isTraced ? new Trace() : null;
    this.#queue = new QuietQueue(() => this.#readNextDueMs());
  }

  async run(): Promise<WorldReport> {
    const scheduler = this.#scheduler;
    const world = this.#ports();
    const functions = [createTaskFunction(world, this.#queue), createWebhookFunction(world)];
    const isolates = new Map(functions.map((each) => [each.name, new Isolates(world, each)]));
    const platform = new Platform(world, isolates);
    const withinMs = this.#dice.int(5, 60) * 1_000;
    const owners = this.#dice.pick([[null], [USERS[0]], [null, ...USERS]]);
    const clients = new Clients(world, this.#planClients(owners, withinMs));
    const automations = new Automations(world, this.#planAutomations(owners));
    const operators = new Operators(world);
    useTimers({ after: (delayMs, run) => scheduler.after(delayMs, null, run) });
    const stopHearing = this.#database.onNotification((channel, payload) =>
      platform.hear(channel, payload)
    );
    try {
      await this.#database.query("select setseed($1)", [this.#dice.number()], "setseed");
      await automations.start();
      platform.start();
      clients.start();
      operators.start(withinMs);
      const disturbedUntilMs = time.ms + withinMs;
      while (time.ms < disturbedUntilMs && await this.#step());
      this.#shares = NO_FAULTS;
      clients.quiet();
      await operators.quiet();
      await automations.quiet();
      for (const each of isolates.values()) each.thaw();
      this.#trace?.add("world", "nothing more fails from here on");
      const calmSinceMs = time.ms;
      while (time.ms < calmSinceMs + DRAIN_MS && !await this.#isDrained()) {
        const untilMs = time.ms + DRAIN_CHECK_MS;
        while (time.ms < untilMs && await this.#step());
      }
      const drainedAfterMs = time.ms - calmSinceMs;
      const endMs = time.ms + AFTERMATH_MS;
      while (time.ms < endMs && await this.#step());
      if (this.#isCircling) this.#note({ name: "the queue drains", detail: "events never end" });
      await clients.end();
      for (const violation of await this.#judge()) this.#note(violation);
      return await this.#report({ drained_after_s: Math.round(drainedAfterMs / 1_000) });
    } finally {
      for (const each of isolates.values()) each.end();
      stopHearing();
      scheduler.clear();
      await settle();
      useTimers(null);
    }
  }

  #planClients(owners: readonly (string | null)[], withinMs: number): ClientPlan {
    const dice = this.#dice;
    return {
      jobs: dice.pick([1, 1, 1, 1, 2]),
      acts: dice.pick([0, 0, 1, 2, 4]),
      withinMs,
      owners,
      areEventsRead: dice.chance(0.3),
    };
  }

  #planAutomations(owners: readonly (string | null)[]): AutomationPlan {
    return {
      webhooks: this.#dice.chance(0.2) ? owners : [],
      schedules: this.#dice.chance(0.15) ? owners.slice(0, 1) : [],
    };
  }

  #ports(): WorldPorts {
    return {
      seed: this.#seed,
      scheduler: this.#scheduler,
      disturbances: this.#disturbances,
      journal: this.#journal,
      trace: this.#trace,
      shares: () => this.#shares,
      dice: (actor) => new Dice(this.#seed, actor),
      transact: (text, values, name) => this.#transact(text, values, name),
      report: (name, detail) => this.#note({ name, detail }),
    };
  }

  async #step(): Promise<boolean> {
    if (this.#isCircling) return false;
    return await this.#scheduler.step();
  }

  get #isCircling(): boolean {
    return this.#scheduler.count > MAX_EVENTS;
  }

  async #transact(text: string, values: readonly unknown[], name: string): Promise<unknown[]> {
    const leases = leasesOf(values);
    const named = leases === null
      ? text
      : `select set_config('witness.leases', '${leases}', true);\n${text}`;
    const rows = await this.#database.query(named, values, name);
    const isQuiet = name === "claim_tasks" ? rows.length === 0 : QUIET_STATEMENTS.has(name);
    if (!isQuiet) this.#queue.disturb();
    if (ASKING_STATEMENTS.has(name)) this.#journal.mayBeAsking = true;
    if (++this.#commits % this.#checkEvery === 0) {
      for (const violation of await this.#read("always")) this.#note(violation);
    }
    return rows;
  }

  async #read(check: "always" | "at_the_end"): Promise<Violation[]> {
    return await this.#database.query(
      `select name, detail from witness.${check}()`,
      [],
      check,
    ) as Violation[];
  }

  #note(violation: Violation): void {
    const key = `${violation.name}: ${violation.detail}`;
    if (this.#violations.has(key)) return;
    this.#violations.set(key, violation);
    this.#trace?.add("world", `VIOLATED: ${key}`);
  }

  async #readNextDueMs(): Promise<number> {
    const [row] = await this.#database.query(
      "select witness.next_due_ms() as due_ms",
      [],
      "next due",
    ) as { due_ms: number | null }[];
    return row?.due_ms ?? Infinity;
  }

  async #isDrained(): Promise<boolean> {
    if (this.#isCircling) return true;
    if (this.#lookedAtCommit === this.#commits) return false;
    this.#lookedAtCommit = this.#commits;
    const [row] = await this.#database.query(
      `select not exists (select from public.tasks where finished_at is null)
         and not exists (select from public.webhook_messages where finished_at is null) as is_drained`,
      [],
      "is drained",
    ) as { is_drained: boolean }[];
    return row?.is_drained ?? false;
  }

  async #judge(): Promise<Violation[]> {
    const repairs = this.#hasFaults ? [] : await this.#database.query(
      "select 'the reconciler has nothing to repair without faults' as name, detail from witness.repairs",
      [],
      "repairs",
    ) as Violation[];
    return [
      ...repairs,
      ...await this.#read("always"),
      ...await this.#read("at_the_end"),
      ...await judgeJournal(this.#database, this.#journal),
      ...await judgeDeletedUsers(this.#database, this.#journal),
    ];
  }

  async #report(figures: Record<string, number>): Promise<WorldReport> {
    const { isTraced, isHashed } = this.#options;
    return {
      seed: this.#seed,
      violations: [...this.#violations.values()],
      disturbances: this.#disturbances.taken,
      figures: {
        ...figures,
        events: this.#scheduler.count,
        commits: this.#commits,
        model_calls: this.#journal.modelCalls,
      },
      trace: isTraced ? this.#trace?.render(await this.#readNames()) ?? [] : [],
      contexts: this.#journal.contexts,
      hash: isHashed ? await hashTables(this.#database) : null,
    };
  }

  /** Readable names of tasks: their place in their job. */
  async #readNames(): Promise<Map<string, string>> {
    const rows = await this.#database.query(
      `select id, input #>> '{}' || case when exists (
         select from private.task_forks where fork_id = task.id
       ) then ' (fork)' else '' end as name
       from public.tasks as task`,
      [],
      "names",
    ) as { id: string; name: string }[];
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}

/** Owners of jobs, besides the service. */
export const USERS = [
  "00000000-0000-4000-8000-00000000000a",
  "00000000-0000-4000-8000-00000000000b",
] as const;

/** Returns a hash of the rows of all tables. */
async function hashTables(database: MemoryDatabase): Promise<string> {
  const tables = await database.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'private', 'pgmq', 'net', 'realtime', 'witness')
       and tablename !~ '_p?[0-9]{4,}'
     order by 1`,
    [],
    "hash",
  ) as { name: string }[];
  const hash = createHash("sha256");
  for (const { name } of tables) {
    const [row] = await database.query(
      `select coalesce(string_agg(t::text, '|' order by t::text), '') as rows from ${name} as t`,
      [],
      "hash",
    ) as { rows: string }[];
    hash.update(`${name}=${row?.rows};`);
  }
  return hash.digest("hex").slice(0, 16);
}
