import type { Clock } from "../../shared/platform/isolate/clock.ts";
import type { CpuMeter } from "../../shared/platform/isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../../shared/platform/isolate/lifetime.ts";
import type { Logger } from "../../shared/platform/log/logger.ts";
import {
  createSupervisor,
  type Supervisor,
  type Worker,
} from "../../shared/engine/work/supervisor.ts";
import type { ListenForWork } from "../../shared/engine/work/work_kind.ts";
import type { Dice } from "./dice.ts";
import { time } from "./virtual_globals.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

/** Lifetimes of a free and of a paid project. */
const WALL_CLOCKS_MS = [150_000, 400_000];
/** The platform sends no requests to an isolate after this share of its lifetime. */
const RETIRED_SHARE = 0.5;
const UNLOAD_SHARE = 0.9;
const MAX_ISOLATES = 3;
/** Clocks of machines run a little faster or slower than the database's. */
const CLOCK_RATES = [1, 1, 1, 0.98, 1.02];
/** Limits of the platform, in milliseconds of CPU over the life of an isolate. */
const CPU_LIMITS = { softMs: 1_000, hardMs: 2_000 };

type Listener = (payload: string) => void;

interface Isolate extends DisturbedProcess {
  readonly bornMs: number;
  readonly wallMs: number;
  readonly listeners: Set<Listener>;
  cpuMs: number;
  supervisor: Supervisor | null;
}

/** What the worker of an isolate gets from it. */
export interface IsolateParts {
  readonly process: DisturbedProcess;
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  /** Absent where nothing can listen. */
  readonly listen?: ListenForWork;
  readonly log: Logger;
}

/** An edge function whose isolates run workers. */
export interface WorkerFunction {
  /** The last part of its URL. */
  readonly name: string;
  /** The beginning of the names of its isolates. */
  readonly isolateName: string;
  readonly createWorker: (parts: IsolateParts) => Worker;
}

/** The isolates of an edge function of workers, as the platform starts, retires and ends them. */
export class Isolates {
  readonly #world: WorldPorts;
  readonly #function: WorkerFunction;
  readonly #dice: Dice;
  readonly #canListen: boolean;
  /** A worker as a long-lived process has no limits. */
  readonly #isCpuLimited: boolean;
  #isolates: Isolate[] = [];
  #count = 0;

  constructor(world: WorldPorts, workerFunction: WorkerFunction) {
    this.#world = world;
    this.#function = workerFunction;
    this.#dice = world.dice(`the platform's isolates of ${workerFunction.name}`);
    this.#canListen = this.#dice.chance(0.5);
    this.#isCpuLimited = this.#dice.chance(0.7);
  }

  /** Routes a wake to an isolate that is not retired, or starts one. */
  wake(): void {
    const alive = this.#isolates.filter(({ isDead }) => !isDead);
    const open = alive.filter(({ bornMs, wallMs, cpuMs }) =>
      time.ms - bornMs < wallMs * RETIRED_SHARE &&
      (!this.#isCpuLimited || cpuMs < CPU_LIMITS.softMs)
    );
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
    const { scheduler, trace } = this.#world;
    const isolate = this.#create(`${this.#function.isolateName}${++this.#count}`);
    const { name, wallMs } = isolate;
    trace?.add(name, `starts, with ${wallMs / 1_000} s to live`);
    const clock = this.#clockOf(isolate);
    const meter: CpuMeter = {
      usedMs: () => isolate.cpuMs,
      // Exact: nothing shows that it is too high.
      limitTo: () => {},
      burn: (durationMs) => isolate.compute(durationMs),
    };
    const cpu = this.#isCpuLimited ? { ...CPU_LIMITS, meter } : undefined;
    const lifetime = createLifetime(wallMs / 1_000, cpu);
    const log: Logger = (level, event, fields) => {
      if (level !== "info") trace?.add(name, `logs ${event} ${JSON.stringify(fields ?? {})}`);
    };
    const parts: IsolateParts = {
      process: isolate,
      clock,
      lifetime,
      log,
      ...this.#canListen && { listen: this.#listenTo(isolate) },
    };
    isolate.supervisor = createSupervisor({
      createWorker: () => this.#function.createWorker(parts),
      runInBackground: () => {},
      noteRequest: () => lifetime.noteRequest(clock.nowMs()),
      isOpen: () => lifetime.phaseAt(clock.nowMs()) === "open",
      log,
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

  #create(name: string): Isolate {
    const { dice, trace } = this.#world;
    const own = dice(name);
    const isCpuLimited = this.#isCpuLimited;
    return {
      name,
      dice: own,
      isDead: false,
      frozenUntilMs: 0,
      bornMs: time.ms,
      wallMs: own.pick(WALL_CLOCKS_MS),
      listeners: new Set(),
      cpuMs: 0,
      supervisor: null,
      compute(durationMs) {
        this.cpuMs += durationMs;
        if (!isCpuLimited || this.isDead || this.cpuMs < CPU_LIMITS.hardMs) return;
        trace?.add(name, "is killed, because it has used up its CPU");
        this.isDead = true;
      },
    };
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
