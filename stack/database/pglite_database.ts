import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { ExtensionBundle } from "./child_protocol.ts";
import type { Logger, StackDatabase } from "./database_port.ts";
import { type PgliteProcess, startPgliteProcess } from "./pglite_process.ts";
import { Stopwatch } from "./stopwatch.ts";

const RESTART_DELAYS_MS = [0, 250, 1_000, 2_000, 4_000];
const LONGEST_BEAT_INTERVAL_MS = 1_000;
/** How long a restarted process may take to open its folder. */
const REOPEN_LIMIT_MS = 120_000;

/** Options of {@linkcode startPgliteDatabase}. */
export interface PgliteDatabaseOptions {
  /** The existing PostgreSQL data folder. */
  readonly dataDir: string;
  /** Port on 127.0.0.1. @default 0: any free port, kept across restarts */
  readonly port?: number;
  readonly bundles: readonly ExtensionBundle[];
  /** Channels that callers can subscribe to. PGlite must listen before it serves. */
  readonly channels: readonly string[];
  /** How long a statement may block all clients before the process is killed. */
  readonly statementLimitMs: number;
  readonly log: Logger;
  /** Ends the first start when it aborts. */
  readonly signal?: AbortSignal;
  /** Called once, when the database has ended and cannot be restarted. */
  readonly onFailure: (error: SwarmError) => void;
}

/**
 * Serves a data folder from a child process. Restarts the child on the same port when it dies, or
 * when one statement keeps its single session busy beyond the limit, because PGlite supports
 * neither `statement_timeout` nor cancellation.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` when the first start fails or is ended.
 */
export async function startPgliteDatabase(options: PgliteDatabaseOptions): Promise<StackDatabase> {
  const supervisor = new PgliteSupervisor(options);
  await supervisor.start();
  return supervisor;
}

class PgliteSupervisor implements StackDatabase {
  readonly kind = "pglite";
  readonly #options: PgliteDatabaseOptions;
  readonly #silence: Stopwatch;
  readonly #notificationHandlers = new Map<string, Set<(payload: string) => void>>();
  readonly #restartHandlers = new Set<() => void>();
  #process: PgliteProcess | null = null;
  #port: number;
  readonly #stopping = new AbortController();
  #restarting: Promise<void> = Promise.resolve();

  constructor(options: PgliteDatabaseOptions) {
    this.#options = options;
    this.#port = options.port ?? 0;
    const onSilence = () => {
      options.log("error", "database.stalled", { statement_limit_ms: options.statementLimitMs });
      this.#process?.kill();
    };
    // A busy machine makes every statement slow. That is no reason to end it.
    const readExcusedMs = () => this.#process?.readProcessorWaitMs() ?? 0;
    this.#silence = new Stopwatch(
      this.#beatIntervalMs,
      options.statementLimitMs,
      onSilence,
      readExcusedMs,
    );
  }

  get url(): string {
    return `postgresql://postgres:postgres@127.0.0.1:${this.#port}/postgres?sslmode=disable`;
  }

  get adminUrl(): string {
    return this.url;
  }

  async start(): Promise<void> {
    this.#process = await this.#spawn(this.#options.signal);
    this.#port = this.#process.port;
    this.#superviseEnd(this.#process);
  }

  onNotification(channel: string, handler: (payload: string) => void): Promise<() => void> {
    if (!this.#options.channels.includes(channel)) {
      throw new RangeError(
        `Cannot listen on '${channel}': the database was started with the channels ` +
          this.#options.channels.join(", "),
      );
    }
    const handlers = this.#notificationHandlers.get(channel) ?? new Set();
    this.#notificationHandlers.set(channel, handlers.add(handler));
    return Promise.resolve(() => void handlers.delete(handler));
  }

  onRestart(handler: () => void): () => void {
    this.#restartHandlers.add(handler);
    return () => void this.#restartHandlers.delete(handler);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#silence.stop();
    await Promise.all([this.#process?.stop(), this.#restarting]);
  }

  get #beatIntervalMs(): number {
    return Math.min(LONGEST_BEAT_INTERVAL_MS, this.#options.statementLimitMs / 5);
  }

  async #spawn(signal: AbortSignal | undefined): Promise<PgliteProcess> {
    const { dataDir, bundles, channels, log } = this.#options;
    const process = await startPgliteProcess({
      dataDir,
      bundles,
      channels,
      log,
      port: this.#port,
      beatIntervalMs: this.#beatIntervalMs,
      onBeat: () => this.#silence.reset(),
      onNotification: ({ channel, payload }) => {
        for (const handler of this.#notificationHandlers.get(channel) ?? []) handler(payload);
      },
      ...definedOnly({ signal }),
    });
    this.#silence.start();
    return process;
  }

  async #superviseEnd(process: PgliteProcess): Promise<void> {
    const reason = await process.ended;
    this.#silence.stop();
    if (this.#stopping.signal.aborted) return;
    this.#options.log("warn", "database.ended", { reason });
    this.#restarting = this.#restart();
  }

  async #restart(): Promise<void> {
    const stopping = this.#stopping.signal;
    const stopped = new Promise((resolve) => stopping.addEventListener("abort", resolve));
    let lastError: unknown;
    for (const delayMs of RESTART_DELAYS_MS) {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, delayMs)), stopped]);
      if (stopping.aborted) return;
      try {
        const limit = AbortSignal.timeout(REOPEN_LIMIT_MS);
        const process = await this.#spawn(AbortSignal.any([limit, stopping]));
        this.#process = process;
        this.#superviseEnd(process);
        if (stopping.aborted) return await process.stop();
        this.#options.log("info", "database.restarted", { port: this.#port });
        for (const handler of this.#restartHandlers) handler();
        return;
      } catch (error) {
        lastError = error;
      }
    }
    this.#options.onFailure(
      new SwarmError(
        "DATABASE_UNAVAILABLE",
        "The database process ended and could not be restarted",
        {
          cause: lastError,
          hint: lastError instanceof Error
            ? lastError.message
            : "Read the log of the stack, then start it again.",
        },
      ),
    );
  }
}
