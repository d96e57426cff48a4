import type { WorkerSettings } from "../config/env.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { Bell } from "./bell.ts";
import { Heartbeat } from "./heartbeat.ts";
import { HeldTasks } from "./held_tasks.ts";
import type { Lifetime } from "../isolate/lifetime.ts";
import { pollingPauseMs } from "./polling_pace.ts";
import { runTask } from "./run_task.ts";
import { StopReason } from "./stop_reason.ts";
import type { ListenForTasks, TaskHint } from "./task_listener.ts";
import type { TaskPorts } from "./task_ports.ts";
import type { ClaimedTask, LoneTasks } from "./task_store.ts";

/** How a worker is made. */
export interface WorkerOptions {
  readonly id: string;
  readonly ports: TaskPorts;
  readonly settings: WorkerSettings;
  readonly lifetime: Lifetime;
  /** Hears of new tasks and of cancelled jobs between two looks. @default it polls, and is woken */
  readonly listen?: ListenForTasks;
}

/** Pause after a claim that failed, so that a database that is down is not stormed. */
const CLAIM_RETRY_MS = 1_000;
/** Where CPU is limited; the rest of the slots follow as soon as these have begun. */
const MAX_CLAIMED_AT_ONCE = 3;

/**
 * Claims tasks and runs them side by side until there is no more work or its time is up.
 *
 * A slot that frees is refilled at once: no slow call keeps the worker from claiming, from its
 * heartbeat or from its other tasks.
 */
export class Worker {
  readonly id: string;
  readonly #options: WorkerOptions;
  readonly #tasks: HeldTasks;
  readonly #bell: Bell;
  readonly #heartbeat: Heartbeat;
  #isEnding = false;
  /** Holds a task that has to run alone. */
  #isAlone = false;
  readonly #unloading = new AbortController();
  #activeAtMs: number;

  constructor(options: WorkerOptions) {
    const { id, ports, settings } = options;
    this.id = id;
    this.#options = options;
    this.#tasks = new HeldTasks(ports.clock);
    this.#bell = new Bell(ports.clock);
    this.#activeAtMs = ports.clock.nowMs();
    this.#heartbeat = new Heartbeat({ workerId: id, tasks: this.#tasks, ...ports, ...settings });
  }

  /**
   * Looks for work, and for cancellations, at once.
   *
   * @returns false when this worker claims no more, and another has to be woken.
   */
  wake(): boolean {
    if (this.#tasks.count > 0) this.#heartbeat.beatNow();
    if (this.#isOpen() && !this.#isAlone) {
      this.#look();
      return true;
    }
    // The platform would have sent it to another isolate, had it retired this one.
    if (this.#isAlone || this.#options.lifetime.isCpuSpent()) void this.#retire();
    this.#bell.ring();
    return false;
  }

  #hear(hint: TaskHint): void {
    switch (hint) {
      case "task":
        return this.#look();
      case "cancel":
        if (this.#tasks.count > 0) this.#heartbeat.beatNow();
    }
  }

  #look(): void {
    this.#activeAtMs = this.#now();
    this.#bell.ring();
  }

  /** The platform is about to end the isolate: hands back what runs. */
  async unload(): Promise<void> {
    this.#unloading.abort();
    this.#bell.ring();
    await this.#handBack();
  }

  /** Works until it is idle or its time is up. Never throws. */
  async run(): Promise<void> {
    const { ports: { store, log } } = this.#options;
    log("info", "worker.started", { worker_id: this.id });
    const beating = this.#heartbeat.run();
    const closed = new AbortController();
    const listening = this.#options.listen?.((hint) => this.#hear(hint), closed.signal);
    await this.#claimWhileOpen();
    // What still runs may be cancelled.
    await Promise.all([this.#drain().finally(() => closed.abort()), this.#passOnWakes()]);
    this.#heartbeat.stop();
    await Promise.all([beating, listening]);
    await store.stopWorker(this.id).catch(() => {});
    log("info", "worker.stopped", { worker_id: this.id, ...this.#cpuUsed() });
  }

  async #claimWhileOpen(): Promise<void> {
    const { lifetime, settings } = this.#options;
    lifetime.cpu?.onPhase("draining", () => this.#bell.ring());
    while (this.#isOpen()) {
      const claimedCount = await this.#claim();
      if (claimedCount === null) {
        await this.#bell.wait(CLAIM_RETRY_MS);
        continue;
      }
      if (claimedCount > 0) this.#activeAtMs = this.#now();
      if (claimedCount === MAX_CLAIMED_AT_ONCE && this.#hasRoom()) continue;
      const quietMs = this.#now() - this.#activeAtMs;
      if (this.#tasks.count === 0 && quietMs > settings.idleSeconds * 1_000) {
        // At once, so that no wake is taken for this worker's after its last look.
        this.#isEnding = true;
        return;
      }
      // All slots taken: a task that ends rings the bell.
      const pauseMs = this.#hasRoom() ? pollingPauseMs(quietMs) : Number.MAX_SAFE_INTEGER;
      await this.#bell.wait(Math.min(pauseMs, lifetime.openForMs(this.#now())));
    }
  }

  /** Claims as many tasks as there are free slots; null when the database does not answer. */
  async #claim(): Promise<number | null> {
    const { ports: { store, log } } = this.#options;
    const room = this.#room();
    if (room <= 0) return 0;
    try {
      const claimed = await store.claim(this.id, room, true, this.#loneTasks());
      this.#isAlone = this.#isLimited && claimed.some(({ worksAlone }) => worksAlone);
      for (const task of claimed) void this.#start(task);
      // Whatever else waits needs another isolate, and has it only when this one is retired.
      if (this.#isAlone) void this.#retire();
      // The platform may have spoken while the claim was on its way.
      if (this.#unloading.signal.aborted) this.#tasks.stopAll(this.#handBackReason());
      return claimed.length;
    } catch (error) {
      const code = error instanceof SwarmError ? error.code : "INTERNAL";
      log("warn", "worker.claim_failed", { worker_id: this.id, code });
      return null;
    }
  }

  async #start(task: ClaimedTask): Promise<void> {
    const { ports } = this.#options;
    const beganAtMs = this.#now();
    await this.#tasks.hold(task, async (signal, watch) => {
      const isClosing = () => this.#isClosing();
      const end = await runTask(task, ports, { signal, isClosing, watch });
      ports.log("info", "task.run_ended", {
        worker_id: this.id,
        task_id: task.taskId,
        end,
        duration_ms: Math.round(this.#now() - beganAtMs),
        ...this.#cpuUsed(),
      });
    });
    if (this.#tasks.count === 0) this.#isAlone = false;
    this.#activeAtMs = this.#now();
    this.#bell.ring();
  }

  /** Lets running tasks go on as long as there is time, then hands them back. */
  async #drain(): Promise<void> {
    const { ports: { clock }, lifetime } = this.#options;
    if (this.#tasks.count === 0) return;
    const drained = new AbortController();
    const allEnded = this.#tasks.allEnded().finally(() => drained.abort());
    lifetime.cpu?.onPhase("over", () => drained.abort());
    await clock.sleep(lifetime.overInMs(this.#now()), drained.signal);
    if (this.#tasks.count > 0) await this.#handBack();
    await allEnded;
  }

  /**
   * A wake that comes after the last claim still reaches this isolate, until the platform retires
   * it. So the successor is woken when that is past.
   */
  async #passOnWakes(): Promise<void> {
    const { ports: { clock, store }, lifetime } = this.#options;
    if (lifetime.phaseAt(this.#now()) === "open") return;
    if (lifetime.isCpuSpent()) return await store.wakeSuccessor().catch(() => {});
    await clock.sleep(lifetime.retiredInMs(this.#now()), this.#unloading.signal);
    await store.wakeSuccessor().catch(() => {});
  }

  /** The successor first: it starts while this worker still writes its last checkpoints. */
  async #handBack(): Promise<void> {
    await this.#options.ports.store.wakeSuccessor().catch(() => {});
    this.#tasks.stopAll(this.#handBackReason());
    await this.#tasks.allEnded();
  }

  /** A call that was made alone until its time was up can be finished by no other worker. */
  #handBackReason(): StopReason {
    const isOver = this.#options.lifetime.phaseAt(this.#now()) === "over";
    return new StopReason("yield", { isFinal: this.#isAlone && isOver });
  }

  /** Makes the platform start another isolate for what waits; this one ends what it has. */
  async #retire(): Promise<void> {
    const { ports: { store }, lifetime } = this.#options;
    await lifetime.cpu?.retire(this.#tasks.work);
    await store.wakeSuccessor().catch(() => {});
  }

  get #isLimited(): boolean {
    return this.#options.lifetime.cpu !== null;
  }

  /** Only who does nothing else, and has most of a life left, takes what has to run alone. */
  #loneTasks(): LoneTasks {
    if (!this.#isLimited) return "any";
    const isFree = this.#tasks.count === 0 && this.#options.lifetime.isYoung(this.#now());
    return isFree ? "first" : "skip";
  }

  #room(): number {
    if (this.#isAlone) return 0;
    const { lifetime, settings } = this.#options;
    const free = settings.slots - this.#tasks.count;
    // Which of them are watched, and cost more, shows only when they are claimed.
    const atOnce = this.#isLimited ? MAX_CLAIMED_AT_ONCE : free;
    return Math.min(free, atOnce, lifetime.roomBeside(this.#tasks.work));
  }

  #cpuUsed(): { readonly cpu_used_ms?: number } {
    const { cpu } = this.#options.lifetime;
    return cpu === null ? {} : { cpu_used_ms: Math.round(cpu.usedMs()) };
  }

  #isOpen(): boolean {
    const phase = this.#options.lifetime.phaseAt(this.#now());
    return phase === "open" && !this.#isEnding && !this.#unloading.signal.aborted;
  }

  #isClosing(): boolean {
    const phase = this.#options.lifetime.phaseAt(this.#now());
    return phase === "closing" || phase === "over" || this.#unloading.signal.aborted;
  }

  #hasRoom(): boolean {
    return this.#room() > 0;
  }

  #now(): number {
    return this.#options.ports.clock.nowMs();
  }
}
