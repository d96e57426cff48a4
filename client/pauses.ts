import type { JobChannels } from "./job_channels.ts";
import { callRpc, readRows, type RequestOptions, type SupabaseLike } from "./supabase.ts";

/** What can be paused. */
export type PauseKind =
  | "project"
  | "agent"
  | "tool"
  | "server"
  | "provider"
  | "schedule"
  | "key";

/** Work that waits. */
export interface PausedWork {
  readonly kind: PauseKind;
  /** Empty for the project. */
  readonly name: string;
  readonly reason: string;
  /** Whether running tasks go on, or are returned by their workers. */
  readonly running: "finish" | "cut";
  readonly paused_at: string;
  readonly ends_at: string | null;
  /** The operator's address, for operators only; null for the service. */
  readonly paused_by: string | null;
  /** How many tasks wait for it, for operators only. */
  readonly waiting_count: number | null;
}

/** A task that waits for a pause. */
export interface PausedTask {
  readonly task_id: string;
  readonly kind: PauseKind;
  readonly name: string;
  readonly reason: string;
  readonly paused_at: string;
}

/** How work is paused. */
export interface PauseOptions extends RequestOptions {
  readonly reason: string;
  /** `cut` only for the project, agents, providers and keys. @default "finish" */
  readonly running?: "finish" | "cut";
  /** The pause ends by itself. @default it does not */
  readonly until?: Date | string;
}

const COLUMNS = "kind,name,reason,running,paused_at,ends_at,paused_by,waiting_count";

/** Paused work: everybody reads what concerns them, operators pause and resume. */
export class Pauses {
  readonly #supabase: SupabaseLike;
  readonly #channels: JobChannels;

  constructor(supabase: SupabaseLike, channels: JobChannels) {
    this.#supabase = supabase;
    this.#channels = channels;
  }

  /** What is paused: the project first, then the longest pause. @throws SwarmClientError */
  async list(options: RequestOptions = {}): Promise<PausedWork[]> {
    const all = (rows: Parameters<Parameters<typeof readRows>[2]>[0]) => rows.select(COLUMNS);
    return await readRows<PausedWork>(this.#supabase, "paused_work", all, options);
  }

  /** The tasks of a job that wait for a pause. @throws SwarmClientError */
  async ofJob(jobId: string, options: RequestOptions = {}): Promise<PausedTask[]> {
    const args = { p_master_task_id: jobId };
    return await callRpc<PausedTask[]>(this.#supabase, "paused_tasks", args, options);
  }

  /**
   * Lets new work wait. Pausing again replaces the reason and the other options.
   *
   * @param name Null for the project; docs/how-to/stop-and-resume-work.md has the others.
   * @returns Since when it is paused.
   * @throws SwarmClientError such as `INSUFFICIENT_SCOPE`, `PAUSE_INVALID`
   */
  async pause(
    kind: PauseKind,
    name: string | null,
    { reason, running = "finish", until, signal }: PauseOptions,
  ): Promise<string> {
    const args = {
      p_kind: kind,
      p_name: name,
      p_reason: reason,
      p_running: running,
      p_until: until ?? null,
    };
    return await callRpc<string>(this.#supabase, "pause_work", args, { signal });
  }

  /** Ends a pause. @returns False if there was none. @throws SwarmClientError */
  async resume(
    kind: PauseKind,
    name: string | null = null,
    options: RequestOptions = {},
  ): Promise<boolean> {
    return await callRpc<boolean>(
      this.#supabase,
      "resume_work",
      { p_kind: kind, p_name: name },
      options,
    );
  }

  /**
   * Learns that something was paused or resumed until the returned function is called. A message may
   * be lost, so a page also reads the list again from time to time.
   *
   * @param onJoined Gets true when messages arrive from now on.
   */
  listen(onChange: () => void, onJoined: (isJoined: boolean) => void = () => {}): () => void {
    return this.#channels.listenToProject({
      onMessage: ({ event }) => event === "pauses.changed" && onChange(),
      onJoined,
    });
  }
}
