import type { Dice } from "../simulation/dice.ts";
import {
  isEnded,
  type ModelLease,
  type ModelTask,
  type QueueModel,
  Refusal,
} from "./queue_model.ts";
import type { StepPart } from "./queue_model.ts";

/** A row of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/** A call of the queue: as SQL, and as the model has it. */
export interface QueueCall {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * Makes the call in the model.
   *
   * @param rows What the database has answered, which decides what the model leaves open: ids, epochs
   * and which tasks a claim takes. Null lets the model decide.
   * @returns the rows that the database must answer.
   * @throws Refusal if it must refuse.
   */
  readonly apply: (rows: readonly Row[] | null) => readonly Row[];
  /** Whether it stands for what takes time, so that nothing else happens at once. @default false */
  readonly isAlone?: boolean;
}

/** The agent of all tasks, which has no provider: claims begin no model call. */
export const AGENT = "modeled";

const LEASE_SECONDS = 600;
const MAX_OPEN_TASKS = 5;

/** Creates random calls that make sense, or did a moment ago. */
export class RandomCalls {
  readonly #model: QueueModel;
  readonly #dice: Dice;
  /** Whether there is one job, with many subtasks, whose ends meet. */
  readonly #isFamily: boolean;
  readonly #leases: ModelLease[] = [];
  #count = 0;
  #invented = 0;

  constructor(model: QueueModel, dice: Dice) {
    this.#model = model;
    this.#dice = dice;
    this.#isFamily = dice.chance(0.6);
  }

  /** Few tasks of few jobs, so that calls meet. */
  next(): QueueCall {
    const tasks = [...this.#model.tasks.values()];
    const open = tasks.filter((task) => !isEnded(task));
    const isAsking = tasks.some(({ openReview }) => openReview !== null);
    const isHolding = this.#leases.some((lease) => this.#model.isHeld(lease));
    if (open.length === 0) return this.#create();
    return this.#choose([
      [open.length < MAX_OPEN_TASKS && !this.#isFamily ? 6 : 0, () => this.#create()],
      [this.#model.claimable().may.length > 0 ? 20 : 1, () => this.#claim()],
      [isAsking ? 12 : 1, () => this.#respond()],
      [this.#isFamily ? 1.5 : 3, () => this.#cancel()],
      [4, () => this.#retry()],
      [3, () => this.#repair()],
      [1, () => this.#signal()],
      [isHolding ? 45 : this.#leases.length > 0 ? 4 : 0, () => this.#work()],
    ]);
  }

  #choose(choices: readonly (readonly [weight: number, make: () => QueueCall])[]): QueueCall {
    let place = this.#dice.number() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of choices) {
      place -= weight;
      if (place < 0) return make();
    }
    return this.#create();
  }

  #newId(): string {
    return `new${++this.#invented}`;
  }

  #create(): QueueCall {
    return {
      name: "create_task",
      text: `select task_id as id from private.create_task('${AGENT}', '"x"')`,
      values: [],
      apply: (rows) => {
        const id = String(rows?.[0]?.id ?? this.#newId());
        this.#model.create(id);
        return [{ id }];
      },
    };
  }

  #claim(): QueueCall {
    const limit = this.#dice.int(1, 3);
    return {
      name: "claim_tasks",
      text: `select task_id as id, epoch::text as epoch from private.claim_tasks(
        p_worker_id => $1, p_limit => $2::int, p_lease_seconds => $3::int)`,
      values: [`worker${this.#dice.int(1, 4)}`, limit, LEASE_SECONDS],
      apply: (rows) => {
        const leases = rows?.map(({ id, epoch }) => ({ id: String(id), epoch: String(epoch) })) ??
          this.#model.claimable().must.slice(0, limit)
            .map(({ id, epoch }) => ({ id, epoch: String(BigInt(epoch) + 1n) }));
        if (leases.length > limit) {
          throw new RangeError(`${leases.length} tasks are more than ${limit}`);
        }
        for (const lease of leases) this.#model.claim(lease);
        this.#leases.push(...leases);
        return leases.map((lease) => ({ ...lease }));
      },
    };
  }

  #cancel(): QueueCall {
    const { id } = this.#any();
    return this.#call(
      "cancel_task",
      "select public.cancel_task($1::uuid) as answer",
      [id],
      () => this.#model.cancel(id),
    );
  }

  #retry(): QueueCall {
    const ended = [...this.#model.tasks.values()].filter(isEnded);
    const { id } = ended.length > 0 && this.#dice.chance(0.9)
      ? this.#dice.pick(ended)
      : this.#any();
    return this.#call("retry_task", "select public.retry_task($1::uuid) as answer", [id], () => {
      this.#model.retry(id);
      return "pending";
    });
  }

  #respond(): QueueCall {
    const asking = [...this.#model.tasks.values()].filter(({ openReview }) => openReview !== null);
    const { id } = asking.length > 0 ? this.#dice.pick(asking) : this.#any();
    return this.#call(
      "respond_to_review",
      "select public.respond_to_review($1::uuid, true) as answer",
      [id],
      () => this.#model.respond(id),
    );
  }

  #signal(): QueueCall {
    const { id } = this.#any();
    return {
      name: "pgmq.send",
      text: `select from pgmq.send('agent_tasks', jsonb_build_object('task_id', $1::text))`,
      values: [id],
      isAlone: true,
      apply: () => {
        this.#model.signal(id);
        return [{}];
      },
    };
  }

  /** A repair of the reconciler. While nothing has died it finds nothing to do. */
  #repair(): QueueCall {
    const { id } = this.#any();
    const repairs: readonly [name: string, apply: () => unknown][] = [
      ["return_expired_task", () => this.#model.returnExpired(id)],
      ["end_expired_task", () => this.#model.endExpired(id)],
      ["wake_stranded_task", () => false],
    ];
    const [name, apply] = this.#dice.pick(repairs);
    return {
      ...this.#call(name, `select private.${name}($1::uuid) as answer`, [id], apply),
      // Rows that somebody has locked are left for the next time.
      isAlone: true,
    };
  }

  /** What a worker does with a task that it holds, or held. */
  #work(): QueueCall {
    const held = this.#leases.filter((lease) => this.#model.isHeld(lease));
    const lease = held.length > 0 && this.#dice.chance(0.88)
      ? this.#dice.pick(held)
      : this.#dice.pick(this.#leases);
    const task = this.#model.tasks.get(lease.id) as ModelTask;
    const started = [...task.steps].filter(([, { state }]) => state === "started");
    const systemSeqs = started.filter(([, { kind }]) => kind === "system").map(([seq]) => seq);
    const asked = systemSeqs.filter((seq) => this.#model.childOf(task, seq) === undefined);
    const forSubtasks = systemSeqs.filter((seq) => !task.reviews.has(seq));
    return this.#choose([
      [forSubtasks.length > 0 ? 30 : 0, () => this.#spawn(lease, forSubtasks)],
      [
        asked.length > 0 ? 8 : 0,
        () => this.#requestReview(lease, task.openReview ?? this.#dice.pick(asked)),
      ],
      [
        systemSeqs.length === 0 && task.parentId === null ? 40 : 10,
        () => this.#record(lease, task),
      ],
      [task.pendingChildren > 0 ? this.#isFamily ? 80 : 25 : 2, () => this.#park(lease)],
      [task.parentId === null ? 4 : 25, () => this.#finish(lease)],
      [5, () => this.#finishTogether(held)],
      [task.parentId === null ? 4 : 8, () => this.#fail(lease)],
      [4, () => this.#yield(lease)],
      [5, () => this.#expire(lease)],
    ]);
  }

  #record(lease: ModelLease, task: ModelTask): QueueCall {
    const results: StepPart[] = [];
    for (const [seq, { kind, state }] of task.steps) {
      // Some results are sent again, with another text.
      if (this.#dice.chance(state === "started" ? 0.5 : 0.1)) {
        results.push({ seq, kind, text: `text${++this.#count}` });
      }
    }
    const last = Math.max(0, ...task.steps.keys());
    const isParent = this.#isFamily && task.parentId === null;
    const nextCount = isParent ? 3 : this.#dice.int(0, 2);
    const next = Array.from({ length: nextCount }, (_, index): StepPart => ({
      // Some intents are sent again.
      seq: this.#dice.chance(0.15) && last > 0 ? this.#dice.int(1, last) : last + index + 1,
      kind: isParent ? "system" : this.#dice.pick(["model", "system", "system"]),
    }));
    return this.#call(
      "record_steps",
      `select private.record_steps(p_task_id => $1::uuid, p_epoch => $2::bigint,
        p_lease_seconds => $3::int, p_steps => $4::text::jsonb, p_next => $5::text::jsonb) as answer`,
      [
        lease.id,
        lease.epoch,
        LEASE_SECONDS,
        JSON.stringify(results.map(({ seq, kind, text }) => ({
          ...{ seq, kind, name: nameOf(kind), state: "done" },
          output: { text },
        }))),
        JSON.stringify(next.map(({ seq, kind }) => ({ seq, kind, name: nameOf(kind) }))),
      ],
      () => this.#model.record(lease, results, next),
    );
  }

  #spawn(lease: ModelLease, open: readonly number[]): QueueCall {
    const seqs = open.filter(() => this.#dice.chance(this.#isFamily ? 0.9 : 0.6));
    const wanted = seqs.length > 0 ? seqs : open.slice(0, 1);
    return {
      name: "spawn_subtasks",
      text: `select seq, task_id as id
        from private.spawn_subtasks(p_task_id => $1::uuid, p_epoch => $2::bigint,
          p_lease_seconds => $3::int, p_subtasks => $4::text::jsonb) order by seq`,
      values: [
        lease.id,
        lease.epoch,
        LEASE_SECONDS,
        JSON.stringify(wanted.map((seq) => ({ seq, agent: AGENT, input: "y" }))),
      ],
      apply: (rows) => {
        this.#model.spawn(
          lease,
          wanted,
          (seq) => String(rows?.find((row) => row.seq === seq)?.id ?? this.#newId()),
        );
        const task = this.#model.tasks.get(lease.id) as ModelTask;
        // Intents that are sent again can begin steps out of order; the answer is in order.
        return wanted.toSorted((one, other) => one - other)
          .map((seq) => ({ seq, id: this.#model.childOf(task, seq)?.id }));
      },
    };
  }

  #park({ id, epoch }: ModelLease): QueueCall {
    return this.#call(
      "park_task",
      "select private.park_task($1::uuid, $2::bigint) as answer",
      [id, epoch],
      () => this.#model.park({ id, epoch }),
    );
  }

  #requestReview(lease: ModelLease, seq: number): QueueCall {
    return this.#call(
      "request_review",
      `select private.request_review(p_task_id => $1::uuid, p_epoch => $2::bigint,
        p_seq => $3::int, p_question => 'May I?') as answer`,
      [lease.id, lease.epoch, seq],
      () => this.#model.requestReview(lease, seq),
    );
  }

  #finish(lease: ModelLease): QueueCall {
    return this.#call(
      "finish_task",
      `select private.finish_task(p_task_id => $1::uuid, p_epoch => $2::bigint,
        p_output => '"fine"') as answer`,
      [lease.id, lease.epoch],
      () => this.#model.finish(lease),
    );
  }

  /** Several tasks of different jobs. Those of busy jobs are missing from the answer. */
  #finishTogether(held: readonly ModelLease[]): QueueCall {
    const some = [...held, this.#dice.pick(this.#leases)].filter(() => this.#dice.chance(0.5));
    const byJob = new Map(some.map((lease) => [this.#model.tasks.get(lease.id)?.jobId, lease]));
    const leases = [...byJob.values()];
    return {
      name: "finish_tasks",
      text:
        `select task_id as id, status from private.finish_tasks($1::text::jsonb) order by task_id`,
      values: [
        JSON.stringify(leases.map(({ id, epoch }) => ({ id, held_epoch: epoch, output: "fine" }))),
      ],
      apply: (rows) =>
        leases.toSorted((one, other) => one.id < other.id ? -1 : 1).filter(({ id }) =>
          rows === null || rows.some((row) => row.id === id)
        ).map((lease) => ({
          id: lease.id,
          status: this.#model.isHeld(lease) ? this.#model.finish(lease) : "lost",
        })),
    };
  }

  #fail(lease: ModelLease): QueueCall {
    const retry = this.#dice.pick(["never", "backoff", "backoff"] as const);
    return this.#call(
      "fail_task",
      `select status as answer
       from private.fail_task(p_task_id => $1::uuid, p_epoch => $2::bigint,
         p_error => '{"code": "INTERNAL", "message": "x"}', p_retry => $3)`,
      [lease.id, lease.epoch, retry],
      () => this.#model.fail(lease, retry),
    );
  }

  #yield(lease: ModelLease): QueueCall {
    return this.#call(
      "yield_task",
      "select private.yield_task($1::uuid, $2::bigint) as answer",
      [lease.id, lease.epoch],
      () => this.#model.yield(lease),
    );
  }

  /** Time passes: a lease runs out. */
  #expire(lease: ModelLease): QueueCall {
    return {
      name: "the lease expires",
      text: `update public.tasks set lease_expires_at = clock_timestamp()
        where id = $1::uuid and epoch = $2::bigint and status = 'running'`,
      values: [lease.id, lease.epoch],
      isAlone: true,
      apply: () => {
        this.#model.expire(lease);
        return [];
      },
    };
  }

  #any(): ModelTask {
    return this.#dice.pick([...this.#model.tasks.values()]);
  }

  #call(
    name: string,
    text: string,
    values: readonly unknown[],
    apply: () => unknown,
  ): QueueCall {
    return { name, text, values, apply: () => [{ answer: apply() }] };
  }
}

/** Makes a call in the model alone. @returns the code with which it is refused, if it is. */
export function applyAlone(call: QueueCall): string | null {
  try {
    call.apply(null);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

function nameOf(kind: StepPart["kind"]): string {
  return kind === "model" ? "script-1" : "create_subtask";
}
