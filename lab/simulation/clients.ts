import type { Dice } from "./dice.ts";
import { EventReader } from "./event_reader.ts";
import type { WorldPorts } from "./world_ports.ts";

const ACTS = [
  "cancels",
  "retries",
  "forks",
  "continues",
  "answers",
  "repeats",
  "watches",
  "signals",
  "deletes the account",
] as const;

interface KnownTask {
  readonly id: string;
  readonly status: string;
  readonly parent_id: string | null;
  readonly last_seq: number;
}

/** How many clients act, and when they do it. */
export interface ClientPlan {
  readonly jobs: number;
  readonly acts: number;
  readonly withinMs: number;
  /** Owners of jobs; null is the service. */
  readonly owners: readonly (string | null)[];
  /** Whether the events of each job are read while it runs. */
  readonly areEventsRead: boolean;
}

/** Clients that create jobs, and do to them what the API allows, at any moment. */
export class Clients {
  readonly #world: WorldPorts;
  readonly #plan: ClientPlan;
  readonly #dice: Dice;
  readonly #readers: EventReader[] = [];
  #created = 0;
  #isQuiet = false;

  constructor(world: WorldPorts, plan: ClientPlan) {
    this.#world = world;
    this.#plan = plan;
    this.#dice = world.dice("clients");
  }

  start(): void {
    const { scheduler, disturbances } = this.#world;
    const { jobs, acts, withinMs } = this.#plan;
    for (let job = 1; job <= jobs; job++) {
      const isWanted = job === 1 || disturbances.happens(`a client creates job${job}`);
      const atMs = job === 1 ? 0 : this.#dice.int(0, withinMs / 2);
      if (isWanted) scheduler.after(atMs, null, () => this.#create(job));
    }
    for (let act = 1; act <= acts; act++) {
      const kind = this.#dice.pick(ACTS);
      const atMs = this.#dice.int(1_000, withinMs);
      const isWanted = disturbances.happens(`client act ${act}: ${kind}`);
      if (isWanted) scheduler.after(atMs, null, () => this.#act(kind, act));
    }
    this.#review();
  }

  /** From now on they only answer questions. */
  quiet(): void {
    this.#isQuiet = true;
  }

  /** Compares what they have read with what is stored. */
  async end(): Promise<void> {
    for (const reader of this.#readers) await reader.end();
  }

  async #create(job: number): Promise<void> {
    const dice = this.#world.dice(`client of job${job}`);
    const budget = dice.pick([
      null,
      null,
      { max_tasks: dice.int(2, 8) },
      { max_output_tokens: dice.int(10, 60) },
      { max_steps: dice.int(4, 20) },
      { max_wall_seconds: dice.int(10, 120) },
    ]);
    const request = {
      agent: "sim-planner",
      input: `job${job}`,
      idempotency_key: `job${job}`,
      priority: dice.pick(["high", "normal", "low"]),
      ...budget && { budget },
      ...dice.chance(0.15) &&
        { run_after: new Date(Date.now() + dice.int(1, 100) * 1_000).toISOString() },
      ...dice.chance(0.3) && { watch: true },
    };
    const owner = dice.pick(this.#plan.owners);
    if (owner !== null && this.#world.journal.deletedUsers.has(owner)) return;
    const created = await this.#request(request, owner);
    this.#created++;
    if (typeof created !== "string") return;
    if (this.#plan.areEventsRead && this.#created <= this.#plan.jobs) {
      const reader = new EventReader(created, this.#world);
      this.#readers.push(reader);
      reader.start();
    }
    if (dice.chance(0.2)) {
      const again = await this.#request(request, owner);
      if (again !== created) {
        this.#world.report("an idempotency key makes one task", `${created} and ${again}`);
      }
    }
  }

  async #request(request: object, owner: string | null): Promise<string | undefined> {
    const actor = owner === null ? "service" : "user";
    const caller = { actor, user_id: owner, client_id: null, task_id: null };
    const [row] = await this.#call(
      `select task_id from private.request_task(p_caller => $1::jsonb, p_request => $2::jsonb,
         p_traceparent => null, p_tracestate => null)`,
      [JSON.stringify(caller), JSON.stringify(request)],
      "request_task",
    ) as { task_id: string }[];
    return row?.task_id;
  }

  async #act(kind: typeof ACTS[number], act: number): Promise<void> {
    // Work that begins now might not end before the world does.
    if (this.#isQuiet) return;
    const dice = this.#world.dice(`client act ${act}`);
    const tasks = await this.#world.transact(
      `select id, status, parent_id, (
         select coalesce(max(seq), 1) from public.task_steps where task_id = task.id
       )::int as last_seq
       from public.tasks as task order by id`,
      [],
      "look",
    ) as KnownTask[];
    if (tasks.length === 0) return;
    const any = dice.pick(tasks);
    const master = dice.pick(tasks.filter(({ parent_id }) => parent_id === null));
    const ended = tasks.filter(({ status }) => status === "failed" || status === "cancelled");
    switch (kind) {
      case "cancels":
        return void await this.#call(
          "select public.cancel_task($1::uuid)",
          [master.id],
          "cancel_task",
        );
      case "retries":
        if (ended.length === 0) return;
        return void await this.#call(
          "select public.retry_task($1::uuid)",
          [dice.pick(ended).id],
          "retry_task",
        );
      case "forks":
        return void await this.#call(
          "select public.fork_task($1::uuid, $2::int)",
          [any.id, dice.int(1, any.last_seq)],
          "fork_task",
        );
      case "continues":
        return void await this.#call(
          `select public.continue_task($1::uuid, '"and then?"')`,
          [master.id],
          "continue_task",
        );
      case "answers":
        return await this.#answer(dice);
      case "repeats":
        if (this.#created > 0) await this.#create(1);
        return;
      case "watches":
        return void await this.#call("select public.watch_task($1::uuid)", [any.id], "watch_task");
      case "signals":
        return void await this.#call(
          "select pgmq.send('agent_tasks', jsonb_build_object('task_id', $1::uuid))",
          [any.id],
          "pgmq.send",
        );
      case "deletes the account":
        return await this.#deleteAccount(dice);
    }
  }

  /** The user is gone, with everything that is theirs, whatever it is doing. */
  async #deleteAccount(dice: Dice): Promise<void> {
    const users = this.#plan.owners.filter((owner) => owner !== null);
    if (users.length === 0) return;
    const user = dice.pick(users);
    const rows = await this.#world.transact(
      "select id from public.tasks where created_by = $1::uuid",
      [user],
      "look",
    ) as { id: string }[];
    await this.#call("delete from auth.users where id = $1::uuid", [user], "delete user");
    this.#world.journal.deletedUsers.set(user, rows.map(({ id }) => id));
  }

  /** Somebody looks for open questions, soon after the disturbed part of the world. */
  #review(): void {
    const delayMs = this.#isQuiet ? 5_000 : this.#dice.int(3_000, 40_000);
    this.#world.scheduler.after(delayMs, null, async () => {
      this.#review();
      await this.#answer(this.#dice);
    });
  }

  async #answer(dice: Dice): Promise<void> {
    if (!this.#world.journal.mayBeAsking) return;
    const open = await this.#world.transact(
      "select task_id from public.human_reviews where answered_at is null order by id",
      [],
      "look",
    ) as { task_id: string }[];
    this.#world.journal.mayBeAsking = open.length > 0;
    for (const { task_id } of open) {
      await this.#call(
        "select public.respond_to_review($1::uuid, $2)",
        [task_id, dice.chance(0.6)],
        "respond_to_review",
      );
    }
  }

  /** A refusal has a code; anything else is a fault. */
  async #call(text: string, values: readonly unknown[], name: string): Promise<unknown[]> {
    const { transact, trace, report } = this.#world;
    try {
      const rows = await transact(text, values, name);
      trace?.add("client", `${name}(${values.join(", ")}) → ${JSON.stringify(rows)}`);
      return rows;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      trace?.add("client", `${name}(${values.join(", ")}) is refused: ${message}`);
      if (!String(code).startsWith("PT")) {
        report("no call fails unexpectedly", `${name}: ${code} ${message}`);
      }
      return [];
    }
  }
}
