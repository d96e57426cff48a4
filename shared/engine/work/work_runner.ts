import type { WorkerSettings } from "../../platform/config/env.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import type { HeldLoad, Lifetime } from "../../platform/isolate/lifetime.ts";
import { nextTurn } from "../../platform/isolate/next_turn.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { CpuShare } from "./cpu_share.ts";
import { Heartbeat } from "./heartbeat.ts";
import { HeldWork } from "./held_work.ts";
import { pollingPauseMs } from "./polling_pace.ts";
import { StopReason } from "./stop_reason.ts";
import type { Worker } from "./supervisor.ts";
import { WakeSignal } from "./wake_signal.ts";
import type { ClaimedWork, ListenForWork, WorkHint, WorkKind } from "./work_kind.ts";

/** Options of a worker. */
export interface WorkRunnerOptions<Work extends ClaimedWork> {
  readonly id: string;
  readonly kind: WorkKind<Work>;
  readonly settings: Pick<
    WorkerSettings,
    "slots" | "leaseSeconds" | "heartbeatSeconds" | "idleSeconds"
  >;
  readonly lifetime: Lifetime;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Listens for new work and cancellations between two polls. @default polling and wake-ups only
   */
  readonly listen?: ListenForWork;
}

/** Pause after a failed claim, so that an unavailable database is not flooded. */
const CLAIM_RETRY_MS = 1_000;
/**
 * Maximum pieces whose end is being written: two large claims. With more, the database is the
 * bottleneck.
 */
const MAX_SETTLED = 400;
/** Work that waited longer while no work was claimed is reported. */
const STALL_MS = 1_000;
/** Work that waits longer for the CPU of a full worker gets another isolate. */
const MAKE_WAY_MS = 1_000;
/** Interval at which a busy worker compares its CPU time with the limits. */
const CPU_LOOK_MS = 100;

/**
 * Claims work of one kind and runs it in parallel until there is no more or its time is up.
 *
 * A free slot is refilled immediately: a slow call does not delay claims, heartbeats or other work.
 */
export class WorkRunner<Work extends ClaimedWork> implements Worker {
  readonly id: string;
  readonly #options: WorkRunnerOptions<Work>;
  readonly #held: HeldWork;
  readonly #signal: WakeSignal;
  readonly #heartbeat: Heartbeat;
  readonly #cpuShare = new CpuShare();
  /** Pieces of which more than the end is left to be written. */
  #runningCount = 0;
  /** Answers that stream. */
  #streamCount = 0;
  /** The last claim returned as much as requested, so more work is likely to wait. */
  #isBacklogged = false;
  /** Since when it has had no room; null if it has. */
  #fullAtMs: number | null = null;
  #isEnding = false;
  /** When it last claimed or had no free slot; null before the first claim. */
  #lookedAtMs: number | null = null;
  /** True while it runs work that must run alone. */
  #isAlone = false;
  #retiring: Promise<void> | null = null;
  /** Aborted when a request shows that the platform has not retired this isolate. */
  #reopened = new AbortController();
  /** Aborted when nothing further may start. */
  #closing = new AbortController();
  readonly #unloading = new AbortController();
  #activeAtMs: number;

  constructor(options: WorkRunnerOptions<Work>) {
    const { id, kind, settings, clock, log } = options;
    const { leaseSeconds, heartbeatSeconds } = settings;
    this.id = id;
    this.#options = options;
    this.#held = new HeldWork(clock);
    this.#signal = new WakeSignal(clock);
    this.#activeAtMs = clock.nowMs();
    this.#heartbeat = new Heartbeat({
      workerId: id,
      held: this.#held,
      kind,
      clock,
      log,
      leaseSeconds,
      heartbeatSeconds,
    });
  }

  get freeSlots(): number {
    return this.#isOpen() ? Math.max(0, this.#room()) : 0;
  }

  wake(): boolean {
    if (this.#held.count > 0) this.#heartbeat.beatNow();
    this.#options.lifetime.noteRequest(this.#now());
    if (this.#isOpen() && !this.#isAlone) {
      this.#reopened.abort();
      this.#look();
      return true;
    }
    // The platform would have sent it to another isolate if this one were retired.
    if (this.#isAlone && this.#isFullForLong()) this.#retire();
    this.#signal.send();
    return false;
  }

  #handleHint(hint: WorkHint): void {
    switch (hint) {
      case "work":
        return this.#look();
      case "cancel":
        if (this.#held.count > 0) this.#heartbeat.beatNow();
    }
  }

  #look(): void {
    this.#activeAtMs = this.#now();
    this.#signal.send();
  }

  async unload(): Promise<void> {
    this.#unloading.abort();
    this.#signal.send();
    await this.#releaseAll();
  }

  async run(): Promise<void> {
    const { kind, log, listen } = this.#options;
    log("info", "worker.started", { worker_id: this.id });
    const beating = this.#heartbeat.run();
    const closed = new AbortController();
    const listening = listen?.({
      workerId: this.id,
      onHint: (hint) => this.#handleHint(hint),
    }, closed.signal);
    do {
      await this.#claimWhileOpen();
      await this.#passOnWakes();
      // Running work may be cancelled.
      await this.#drain();
    } while (this.#reopened.signal.aborted);
    // A wake-up that comes now needs another worker.
    this.#isEnding = true;
    closed.abort();
    this.#heartbeat.stop();
    await Promise.all([beating, listening]);
    await kind.stopWorker?.(this.id).catch((error) => {
      log("warn", "worker.stop_failed", { worker_id: this.id, code: codeOf(error) });
    });
    log("info", "worker.stopped", { worker_id: this.id, ...this.#cpuUsed() });
  }

  async #claimWhileOpen(): Promise<void> {
    const { lifetime, settings } = this.#options;
    while (this.#isOpen()) {
      this.#noteClosing();
      const askedAtMs = this.#now();
      const claimedCount = await this.#claim();
      if (claimedCount === null) {
        await this.#signal.wait(CLAIM_RETRY_MS);
        continue;
      }
      if (claimedCount > 0) {
        this.#activeAtMs = this.#now();
        // Quick work frees its slots in this turn, so the next claim is larger.
        await nextTurn();
      }
      // A claim that began before work ended does not see what that work has queued.
      const quietMs = Math.max(0, askedAtMs - this.#activeAtMs);
      const isIdle = this.#held.count === 0 && quietMs > settings.idleSeconds * 1_000;
      if (lifetime.isLimited && isIdle) {
        // Immediately, so that this worker receives no wake-up after its last poll.
        this.#isEnding = true;
        break;
      }
      await this.#signal.wait(Math.min(this.#pauseMs(quietMs), lifetime.openForMs(this.#now())));
    }
    // Immediately, so that a wake-up after the last look at the phase counts.
    this.#reopened = new AbortController();
  }

  #pauseMs(quietMs: number): number {
    if (this.#hasRoom()) return pollingPauseMs(quietMs);
    // Finished work sends the signal, but not what ends the phase.
    return this.#isLimited ? CPU_LOOK_MS : Number.MAX_SAFE_INTEGER;
  }

  /** Claims as much work as there is room for. Returns null when the database does not respond. */
  async #claim(): Promise<number | null> {
    const { kind } = this.#options;
    const room = Math.max(0, this.#room());
    if (room === 0) {
      this.#fullAtMs ??= this.#now();
      if (this.#isFullForLong()) void this.#makeWay();
      return 0;
    }
    this.#fullAtMs = null;
    const lookedAtMs = this.#lookedAtMs;
    try {
      const claimed = await kind.claim(this.id, { limit: room, isIdle: this.#isIdle() });
      this.#isBacklogged = claimed.length === room;
      this.#isAlone = this.#isLimited && claimed.some(({ runsExclusively }) => runsExclusively);
      this.#startAll(claimed);
      this.#lookedAtMs = this.#now();
      if (lookedAtMs === null || this.#now() - lookedAtMs > STALL_MS) {
        void this.#reportStall(claimed);
      }
      // A worker without limits runs other work beside it at once.
      const isExclusive = claimed.some(({ runsExclusively }) => runsExclusively);
      if (isExclusive && !this.#isAlone) this.#signal.send();
      return claimed.length;
    } catch (error) {
      this.#noteFailedClaim(error);
      return null;
    }
  }

  /** Reports work that waited although this worker, or another, had time for it. */
  async #reportStall(claimed: readonly Work[]): Promise<void> {
    const { kind, log } = this.#options;
    if (claimed.length === 0 || kind.stalledMs === undefined) return;
    try {
      const stalledMs = Math.round(await kind.stalledMs(claimed));
      if (stalledMs > STALL_MS) {
        log("warn", "queue.stalled", { worker_id: this.id, stalled_ms: stalledMs });
      }
    } catch (error) {
      log("warn", "worker.stall_unknown", { worker_id: this.id, code: codeOf(error) });
    }
  }

  #startAll(works: readonly Work[]): void {
    for (const work of works) void this.#start(work);
    // The platform may have ended this worker's claiming while the database answered.
    if (this.#unloading.signal.aborted) this.#held.stopAll(this.#releaseReason());
  }

  #noteFailedClaim(error: unknown): void {
    const { log } = this.#options;
    log("warn", "worker.claim_failed", { worker_id: this.id, code: codeOf(error) });
  }

  async #start(work: Work): Promise<void> {
    const { kind, log } = this.#options;
    const { id, epoch } = work;
    const beganAtMs = this.#now();
    const settle = this.#occupySlot();
    await this.#held.hold({ id, epoch }, async ({ signal, paused, watch, awaitWhole }) => {
      const end = await kind.run(work, {
        signal,
        paused,
        isDraining: () => !this.#isOpen(),
        isClosing: () => this.#isClosing(),
        closing: this.#closing.signal,
        reserveStream: () => this.#reserveStream(),
        awaitWhole,
        isShortOfCpu: () => this.#options.lifetime.isShortOfCpu(this.#load),
        settle,
        progress: () => this.#endAlone(),
        watch,
      }).catch(toName);
      log(kind.isQuietEnd?.(end) ? "debug" : "info", `${kind.noun}.run_ended`, {
        worker_id: this.id,
        [`${kind.noun}_id`]: id,
        end,
        duration_ms: Math.round(this.#now() - beganAtMs),
        ...this.#cpuUsed(),
      });
    });
    settle();
    if (this.#held.count === 0) this.#endAlone();
    this.#activeAtMs = this.#now();
    this.#signal.send();
  }

  /** What had to run alone runs beside other work from here on. */
  #endAlone(): void {
    if (!this.#isAlone) return;
    this.#isAlone = false;
    this.#signal.send();
  }

  /** @returns a function that frees the slot; a second call does nothing. */
  #occupySlot(): () => void {
    let isFree = false;
    this.#runningCount++;
    return () => {
      if (isFree) return;
      isFree = true;
      // Until now all slots were taken.
      if (this.#runningCount === this.#options.settings.slots) this.#lookedAtMs = this.#now();
      this.#runningCount--;
      this.#signal.send();
    };
  }

  #reserveStream(): (() => void) | null {
    const { lifetime } = this.#options;
    if (!lifetime.mayStream(this.#load)) return null;
    const beforeMs = this.#noteCpu();
    this.#streamCount++;
    return () => {
      const cpuMs = this.#noteCpu() - beforeMs;
      this.#streamCount--;
      lifetime.noteStream(cpuMs);
    };
  }

  /**
   * Lets running work continue while there is time, or until a request shows that this isolate is
   * not retired.
   */
  async #drain(): Promise<void> {
    const { clock } = this.#options;
    const drained = new AbortController();
    const allEnded = this.#held.allEnded().finally(() => drained.abort());
    const signal = AbortSignal.any([drained.signal, this.#reopened.signal]);
    while (!signal.aborted && !this.#isOver()) {
      this.#noteClosing();
      await clock.sleep(this.#drainPauseMs(), signal);
    }
    if (this.#reopened.signal.aborted) return;
    if (this.#held.count > 0 && this.#mayWait()) {
      await this.#wakeSuccessor();
      this.#held.stopComputing(this.#releaseReason());
    }
    while (!drained.signal.aborted && this.#mayWait()) {
      await clock.sleep(CPU_LOOK_MS, drained.signal);
    }
    if (this.#held.count > 0) await this.#releaseAll();
    await allEnded;
  }

  #drainPauseMs(): number {
    const overInMs = this.#options.lifetime.overInMs(this.#now());
    return this.#isLimited ? Math.min(CPU_LOOK_MS, overInMs) : overInMs;
  }

  /**
   * Wakes the successor of a worker whose isolate is retired. If the platform sends the wake-up to
   * this isolate after all, the worker continues to claim.
   */
  async #passOnWakes(): Promise<void> {
    if (this.#options.lifetime.phaseAt(this.#now()) !== "open") await this.#wakeSuccessor();
  }

  /** The successor is woken first: it starts while this worker writes its last checkpoints. */
  async #releaseAll(): Promise<void> {
    await this.#wakeSuccessor();
    this.#held.stopAll(this.#releaseReason());
    await this.#held.allEnded();
  }

  /** A call that ran alone until its time was up cannot be finished by any other worker. */
  #releaseReason(): StopReason {
    return new StopReason("yield", { isFinal: this.#isAlone && this.#isOver() });
  }

  #isFullForLong(): boolean {
    return this.#fullAtMs !== null && this.#now() - this.#fullAtMs >= MAKE_WAY_MS;
  }

  /**
   * Stops claiming when CPU, or work that runs alone, and not slots keep it from waiting work, so
   * that another isolate starts.
   */
  async #makeWay(): Promise<void> {
    if (this.#isAlone) return this.#retire();
    const { lifetime, settings } = this.#options;
    const hasSlots = this.#runningCount < settings.slots;
    if (!this.#isLimited || !this.#isBacklogged || !hasSlots) return;
    this.#isBacklogged = false;
    await lifetime.cpu?.retire(this.#load);
    this.#signal.send();
  }

  /**
   * Makes the platform start another isolate for waiting work; this one finishes its own. Wake-ups
   * that arrive meanwhile change nothing.
   */
  #retire(): void {
    const retire = async () => {
      // A call that runs alone does not stream.
      await this.#options.lifetime.cpu?.retire({ count: this.#held.count, streamCount: 0 });
      await this.#wakeSuccessor();
    };
    this.#retiring ??= retire().finally(() => this.#retiring = null);
  }

  /** A wake-up that is lost delays work until the next tick, so its failure is logged. */
  async #wakeSuccessor(): Promise<void> {
    const { kind, log } = this.#options;
    try {
      await kind.wakeSuccessor();
    } catch (error) {
      log("warn", "worker.wake_failed", { worker_id: this.id, code: codeOf(error) });
    }
  }

  get #isLimited(): boolean {
    return this.#options.lifetime.cpu !== null;
  }

  /** Only an idle worker with most of its lifetime left takes work that must run alone. */
  #isIdle(): boolean {
    return !this.#isLimited ||
      this.#held.count === 0 && this.#options.lifetime.isYoung(this.#now());
  }

  #room(): number {
    if (this.#isAlone) return 0;
    const { lifetime, settings } = this.#options;
    return Math.min(
      settings.slots - this.#runningCount,
      MAX_SETTLED - (this.#held.count - this.#runningCount),
      lifetime.roomBeside(this.#load),
    );
  }

  get #load(): HeldLoad {
    return { count: this.#held.count, streamCount: this.#streamCount };
  }

  /** Called when a stream begins or ends; see {@linkcode CpuShare}. */
  #noteCpu(): number {
    return this.#cpuShare.note(this.#options.lifetime.cpu?.usedMs() ?? 0, this.#streamCount);
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
    return phase === "closing" || phase === "over" || this.#unloading.signal.aborted ||
      this.#options.lifetime.isNeededByStreams(this.#load);
  }

  /** What is claimed later, if it is, gets a signal of its own. */
  #noteClosing(): void {
    if (this.#isClosing()) this.#closing.abort(new StopReason("yield"));
    else if (this.#closing.signal.aborted) this.#closing = new AbortController();
  }

  #isOver(): boolean {
    return this.#options.lifetime.phaseAt(this.#now()) === "over";
  }

  #mayWait(): boolean {
    const { signal } = this.#unloading;
    return !signal.aborted && this.#options.lifetime.mayWait(this.#now(), this.#load);
  }

  #hasRoom(): boolean {
    return this.#room() > 0;
  }

  #now(): number {
    return this.#options.clock.nowMs();
  }
}

function codeOf(error: unknown): string {
  return error instanceof SwarmError ? error.code : "INTERNAL";
}

/** A bug: the lease expires, and another worker continues. */
function toName(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
