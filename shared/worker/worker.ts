import type { WorkerSettings } from "../config/env.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { Bell } from "./bell.ts";
import { Heartbeat } from "./heartbeat.ts";
import { HeldTasks } from "./held_tasks.ts";
import type { Lifetime } from "./lifetime.ts";
import { pollingPauseMs } from "./polling_pace.ts";
import { runTask } from "./run_task.ts";
import { StopReason } from "./stop_reason.ts";
import type { ListenForTasks, TaskHint } from "./task_listener.ts";
import type { TaskPorts } from "./task_ports.ts";
import type { ClaimedTask } from "./task_store.ts";

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
    if (!this.#isOpen()) return false;
    this.#look();
    return true;
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
    log("info", "worker.stopped", { worker_id: this.id });
  }

  async #claimWhileOpen(): Promise<void> {
    const { lifetime, settings } = this.#options;
    while (this.#isOpen()) {
      const claimedCount = await this.#claim();
      if (claimedCount === null) {
        await this.#bell.wait(CLAIM_RETRY_MS);
        continue;
      }
      if (claimedCount > 0) this.#activeAtMs = this.#now();
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
    const { ports: { store, log }, settings } = this.#options;
    const room = settings.slots - this.#tasks.count;
    if (room === 0) return 0;
    try {
      const claimed = await store.claim(this.id, room, true);
      for (const task of claimed) void this.#start(task);
      // The platform may have spoken while the claim was on its way.
      if (this.#unloading.signal.aborted) this.#tasks.stopAll(new StopReason("yield"));
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
      });
    });
    this.#activeAtMs = this.#now();
    this.#bell.ring();
  }

  /** Lets running tasks go on as long as there is time, then hands them back. */
  async #drain(): Promise<void> {
    const { ports: { clock }, lifetime } = this.#options;
    if (this.#tasks.count === 0) return;
    const drained = new AbortController();
    const allEnded = this.#tasks.allEnded().finally(() => drained.abort());
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
    await clock.sleep(lifetime.retiredInMs(this.#now()), this.#unloading.signal);
    await store.wakeSuccessor().catch(() => {});
  }

  /** The successor first: it starts while this worker still writes its last checkpoints. */
  async #handBack(): Promise<void> {
    await this.#options.ports.store.wakeSuccessor().catch(() => {});
    this.#tasks.stopAll(new StopReason("yield"));
    await this.#tasks.allEnded();
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
    return this.#tasks.count < this.#options.settings.slots;
  }

  #now(): number {
    return this.#options.ports.clock.nowMs();
  }
}
