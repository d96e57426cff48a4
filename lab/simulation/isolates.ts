import type { Clock } from "../../shared/platform/isolate/clock.ts";
import { createLifetime } from "../../shared/platform/isolate/lifetime.ts";
import { NO_TELEMETRY } from "../../shared/platform/telemetry/telemetry.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import { createTaskWorker } from "../../shared/engine/worker/task_worker.ts";
import type { TaskPorts } from "../../shared/engine/worker/task_ports.ts";
import { createSupervisor, type Supervisor } from "../../shared/engine/work/supervisor.ts";
import type { ListenForWork } from "../../shared/engine/work/work_kind.ts";
import type { Dice } from "./dice.ts";
import { watchLeases } from "./lease_watch.ts";
import { type QuietQueue, skipEmptyClaims } from "./quiet_queue.ts";
import { createSimulatedGateway } from "./simulated_gateway.ts";
import { callSimulatedModel } from "./simulated_model.ts";
import { createSimulatedSql } from "./simulated_sql.ts";
import { time } from "./virtual_globals.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

/** The defaults of `SUPASWARM_WORKER_SLOTS` and its neighbors. */
const SETTINGS = { slots: 8, leaseSeconds: 30, heartbeatSeconds: 10, idleSeconds: 20 };
/** Lifetimes of a free and of a paid project. */
const WALL_CLOCKS_MS = [150_000, 400_000];
/** The platform sends no requests to an isolate after this share of its lifetime. */
const RETIRED_SHARE = 0.5;
const UNLOAD_SHARE = 0.9;
const MAX_ISOLATES = 3;
/** Clocks of machines run a little faster or slower than the database's. */
const CLOCK_RATES = [1, 1, 1, 0.98, 1.02];

type Listener = (payload: string) => void;

interface Isolate extends DisturbedProcess {
  readonly bornMs: number;
  readonly wallMs: number;
  readonly listeners: Set<Listener>;
  supervisor: Supervisor | null;
}

/** The isolates of the worker's edge function, as the platform starts, retires and ends them. */
export class Isolates {
  readonly #world: WorldPorts;
  readonly #queue: QuietQueue;
  readonly #dice: Dice;
  readonly #canListen: boolean;
  #isolates: Isolate[] = [];
  #count = 0;

  constructor(world: WorldPorts, queue: QuietQueue) {
    this.#world = world;
    this.#queue = queue;
    this.#dice = world.dice("the platform's isolates");
    this.#canListen = this.#dice.chance(0.5);
  }

  /** Routes a wake to an isolate that is not retired, or starts one. */
  wake(): void {
    const alive = this.#isolates.filter(({ isDead }) => !isDead);
    const open = alive.filter(({ bornMs, wallMs }) => time.ms - bornMs < wallMs * RETIRED_SHARE);
    const isCrowded = alive.length >= MAX_ISOLATES;
    const isNew = open.length === 0 || (!isCrowded && this.#dice.chance(0.5));
    const isolate = isNew ? this.#start() : this.#dice.pick(open);
    const delayMs = isNew ? this.#dice.int(50, 2_000) : 1;
    this.#world.scheduler.after(delayMs, isolate, () => void isolate.supervisor?.wake());
  }

  /** Delivers a notification of the database to all that listen. */
  notify(payload: string): void {
    const { scheduler, disturbances, shares } = this.#world;
    for (const isolate of this.#isolates) {
      for (const listener of isolate.listeners) {
        const fault = disturbances.pick(
          this.#dice,
          shares().wake,
          `a notification for ${isolate.name}`,
          ["is lost"],
        );
        const delayMs = this.#dice.int(1, 30);
        if (fault === null) scheduler.after(delayMs, isolate, () => listener(payload));
      }
    }
  }

  /** Lets frozen isolates continue soon. */
  thaw(): void {
    for (const isolate of this.#isolates) {
      isolate.frozenUntilMs = Math.min(isolate.frozenUntilMs, time.ms + 60_000);
    }
  }

  /** Ends all of them without a word. */
  end(): void {
    for (const isolate of this.#isolates) isolate.isDead = true;
  }

  #start(): Isolate {
    const { scheduler, trace, dice } = this.#world;
    const name = `isolate${++this.#count}`;
    const own = dice(name);
    const wallMs = own.pick(WALL_CLOCKS_MS);
    const isolate: Isolate = {
      name,
      dice: own,
      isDead: false,
      frozenUntilMs: 0,
      bornMs: time.ms,
      wallMs,
      listeners: new Set(),
      supervisor: null,
    };
    trace?.add(name, `starts, with ${wallMs / 1_000} s to live`);
    const clock = this.#clockOf(isolate);
    const lifetime = createLifetime(wallMs / 1_000);
    const ports = this.#portsOf(isolate, clock);
    const listen = this.#canListen ? { listen: this.#listenTo(isolate) } : {};
    isolate.supervisor = createSupervisor({
      createWorker: () =>
        createTaskWorker({
          id: crypto.randomUUID(),
          ports,
          settings: SETTINGS,
          lifetime,
          ...listen,
        }),
      runInBackground: () => {},
      noteRequest: () => lifetime.noteRequest(clock.nowMs()),
      isOpen: () => lifetime.phaseAt(clock.nowMs()) === "open",
      log: ports.log,
    });
    this.#isolates.push(isolate);
    scheduler.after(wallMs * UNLOAD_SHARE, isolate, () => {
      trace?.add(name, "is warned that it ends");
      void isolate.supervisor?.unload();
    });
    scheduler.after(wallMs, isolate, () => {
      trace?.add(name, "ends, because its time is up");
      isolate.isDead = true;
    });
    return isolate;
  }

  #clockOf(isolate: Isolate): Clock {
    const { scheduler } = this.#world;
    const rate = isolate.dice.pick(CLOCK_RATES);
    return {
      nowMs: () => (time.ms - isolate.bornMs) * rate,
      sleep: (durationMs, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          const end = () => {
            cancel();
            signal?.removeEventListener("abort", end);
            resolve();
          };
          // Timers have a resolution: a wait of nothing would never let time pass.
          const cancel = scheduler.after(Math.max(1, Math.ceil(durationMs / rate)), isolate, end);
          signal?.addEventListener("abort", end);
        }),
    };
  }

  #portsOf(isolate: Isolate, clock: Clock): TaskPorts {
    const world = this.#world;
    const { leaseSeconds } = SETTINGS;
    const sqlStore = createSqlTaskStore(createSimulatedSql(isolate, world), {
      leaseSeconds,
      clock,
    });
    const { store, assertHeld } = watchLeases(sqlStore, isolate, world);
    const gateway = createSimulatedGateway(isolate, world);
    return {
      store: skipEmptyClaims(store, this.#queue),
      callModel: (call) => {
        // An aborted call is not sent.
        if (!call.signal.aborted) assertHeld(call.context.task.id, "the model");
        return callSimulatedModel(isolate, call, world);
      },
      gateway: {
        ...gateway,
        call: (request, signal) => {
          if (!signal.aborted) assertHeld(request.caller.taskId ?? "", request.toolName);
          return gateway.call(request, signal);
        },
      },
      artifacts: { put: () => Promise.resolve() },
      describeFiles: () => Promise.resolve([]),
      clock,
      telemetry: NO_TELEMETRY,
      log: (level, event, fields) => {
        if (level === "info" || world.trace === null) return;
        world.trace.add(isolate.name, `logs ${event} ${JSON.stringify(fields ?? {})}`);
      },
    };
  }

  #listenTo(isolate: Isolate): ListenForWork {
    const { scheduler } = this.#world;
    return ({ onHint }, signal) =>
      new Promise((resolve) => {
        const hear: Listener = (payload) => {
          if (payload === "") onHint("work");
          if (payload === "cancel") onHint("cancel");
        };
        scheduler.after(isolate.dice.int(5, 200), isolate, () => {
          if (signal.aborted) return;
          isolate.listeners.add(hear);
        });
        const end = () => {
          isolate.listeners.delete(hear);
          resolve();
        };
        if (signal.aborted) return end();
        signal.addEventListener("abort", end, { once: true });
      });
  }
}
