import { type EventPosition, parseCursor, printCursor } from "./event_cursor.ts";
import type { JobChannels } from "./job_channels.ts";
import type { JobEvent } from "./job_event.ts";
import { callRpc, readRows, type SupabaseLike } from "./supabase.ts";
import { isTransient } from "./swarm_client_error.ts";
import { backoffMs, ChangeSignal, pause } from "./waiting.ts";

interface EventPage {
  readonly events: readonly JobEvent[];
  readonly next_cursor: string;
  readonly has_more: boolean;
}

interface TaskRow {
  readonly id: string;
  readonly finished_at: string | null;
}

const PAGE_SIZE = 200;
/** The largest that the platform accepts, so that events are complete. */
const MAX_DATA_BYTES = 1_048_576;
/** Messages of a burst cause one read. */
const GATHER_MS = 50;
/** With a joined channel, polling only repairs the loss of a message. */
const JOINED_POLL_MS = 15_000;
const FIRST_POLL_MS = 500;
const LAST_POLL_MS = 5_000;

/**
 * Reads the events of a job: each once, and those of one task in order, however often connections
 * break. Realtime only says when to read; without it, the reader polls.
 */
export class EventReader {
  readonly #supabase: SupabaseLike;
  readonly #channels: JobChannels;
  readonly #jobId: string;
  #position: EventPosition;
  /** Whether the job has ended, by the last event that says so. */
  #hasEnded: boolean | undefined;

  constructor(
    supabase: SupabaseLike,
    channels: JobChannels,
    { jobId, after }: { readonly jobId: string; readonly after: string | null | undefined },
  ) {
    this.#supabase = supabase;
    this.#channels = channels;
    this.#jobId = jobId;
    this.#position = parseCursor(after);
  }

  /** Everything up to the last returned event: a reader that starts here gets those after it. */
  get cursor(): string {
    return printCursor(this.#position);
  }

  /**
   * Returns the events after the cursor until every task of the job has ended.
   *
   * @param onCaughtUp Called whenever every event that was visible has been returned.
   * @throws SwarmClientError for what does not pass by itself, such as `TASK_NOT_FOUND`; the
   *   signal's reason
   */
  async *read(
    signal: AbortSignal,
    onCaughtUp: () => void = () => {},
  ): AsyncGenerator<JobEvent, void, undefined> {
    const change = new ChangeSignal();
    let isJoined = false;
    const join = () =>
      this.#channels.listen(this.#jobId, {
        onMessage: ({ event }) => event !== "model.delta" && change.notify(),
        onJoined: (joins) => {
          isJoined = joins;
          change.notify();
        },
      });
    let leave: (() => void) | undefined;
    try {
      let pollMs = FIRST_POLL_MS;
      let isLastRead = false;
      for (;;) {
        const page = await untilAnswered(() => this.#readPage(signal), signal);
        for (const event of page.events) {
          this.#note(event, page);
          yield event;
        }
        this.#turn(page);
        if (page.has_more) continue;
        onCaughtUp();
        if (isLastRead && this.#hasEnded !== false) return;
        // What became visible before the last task ended is in the read after this one.
        isLastRead = this.#hasEnded !== false &&
          await untilAnswered(() => this.#haveTasksEnded(signal), signal);
        if (isLastRead) continue;
        pollMs = page.events.length > 0 ? FIRST_POLL_MS : Math.min(pollMs * 1.5, LAST_POLL_MS);
        leave ??= join();
        await pause(GATHER_MS, signal);
        await change.wait(isJoined ? JOINED_POLL_MS : pollMs, signal);
      }
    } finally {
      leave?.();
    }
  }

  /** Reads the events after the page's cursor that this reader does not have. */
  async #readPage(signal: AbortSignal): Promise<EventPage & { readonly left: readonly number[] }> {
    const { page: cursor, seen } = this.#position;
    const page = await callRpc<EventPage>(this.#supabase, "read_events", {
      p_task_id: this.#jobId,
      p_cursor: cursor,
      p_limit: PAGE_SIZE,
      p_max_data_bytes: MAX_DATA_BYTES,
    }, { signal });
    const known = new Set(seen);
    const returned = new Set(page.events.map(({ id }) => id));
    return {
      ...page,
      events: page.events.filter(({ id }) => !known.has(id)),
      // Late events may have moved others to the next page.
      left: seen.filter((id) => !returned.has(id)),
    };
  }

  #note({ id, type, task_id }: JobEvent, { next_cursor, ...page }: EventPage & {
    readonly left: readonly number[];
  }): void {
    const { page: cursor, seen } = this.#position;
    this.#position = id === page.events.at(-1)?.id
      ? { page: next_cursor, seen: page.left }
      : { page: cursor, seen: [...seen, id] };
    if (task_id !== this.#jobId) return;
    if (/^task\.(completed|failed|cancelled)$/.test(type)) this.#hasEnded = true;
    else if (type.startsWith("task.")) this.#hasEnded = false;
  }

  /** Moves to the next page, also if it has nothing new: its cursor may be shorter. */
  #turn({ next_cursor, left }: { readonly next_cursor: string; readonly left: readonly number[] }) {
    this.#position = { page: next_cursor, seen: left };
  }

  /** Subtasks of a cancelled job may end after it. */
  async #haveTasksEnded(signal: AbortSignal): Promise<boolean> {
    const rows = await readRows<TaskRow>(
      this.#supabase,
      "tasks",
      (tasks) =>
        tasks.select("id,finished_at").eq("master_task_id", this.#jobId)
          .or(`id.eq.${this.#jobId},finished_at.is.null`).limit(2),
      { signal },
    );
    // Operators cannot read the rows of other users' jobs.
    if (rows.length === 0) return this.#hasEnded === true;
    return rows.every(({ finished_at }) => finished_at !== null);
  }
}

/** Repeats a request until it is answered. @throws SwarmClientError for what does not pass by itself */
export async function untilAnswered<Data>(
  request: () => Promise<Data>,
  signal: AbortSignal | undefined,
): Promise<Data> {
  for (let failures = 0;; failures++) {
    try {
      return await request();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await pause(backoffMs(failures), signal);
    }
  }
}
