import { EventReader, untilAnswered } from "./event_reader.ts";
import { followJob } from "./follow_job.ts";
import type { JobChannels, JobListener } from "./job_channels.ts";
import { jobError } from "./job_error.ts";
import type { JobEvent, JobStatus, TaskError, TaskWarning } from "./job_event.ts";
import { TextAssembly, type TextPart } from "./job_text.ts";
import type { Json, JsonObject } from "./json.ts";
import { answerReview, type ReviewAnswer, type ReviewedTask } from "./reviews.ts";
import {
  callRpc,
  readRows,
  type RequestOptions,
  type SupabaseLike,
  useBucket,
} from "./supabase.ts";
import { isTransient, SwarmClientError } from "./swarm_client_error.ts";
import { backoffMs, ChangeSignal, pause } from "./waiting.ts";

/** Where to begin, and when to stop. */
export interface ReadOptions extends RequestOptions {
  /** A cursor of an earlier read. @default the beginning */
  readonly after?: string | null | undefined;
}

/** An event with the cursor after it, or progress of the answer that the job's model is writing. */
export type JobUpdate =
  | {
    readonly kind: "event";
    readonly event: JobEvent;
    readonly cursor: string;
    /** With the job's own `task.completed`: its output, also if it is stored as a file. */
    readonly output?: Json;
  }
  | { readonly kind: "text"; readonly part: TextPart };

/** What to read of a job. */
export interface UpdateOptions extends ReadOptions {
  /** False if only events are shown: whole answers cost the worker less. @default true */
  readonly text?: boolean;
}

/** Options of a signal. */
export interface SignalOptions extends RequestOptions {
  /** A second signal with this key changes nothing. @default each is new */
  readonly key?: string;
  /** The subtask that is the workflow. @default the job itself */
  readonly taskId?: string;
}

/** Changes of a fork; docs/reference/http.md describes them. */
export interface ForkOptions extends RequestOptions {
  /** The first step that is done again. */
  readonly fromStep: number;
  /** The task of the step. @default the job itself */
  readonly taskId?: string;
  readonly changes?: {
    readonly input?: Json;
    readonly arguments?: JsonObject;
    readonly answer?: Json;
  };
}

interface TaskRow {
  readonly status: JobStatus;
  readonly output: Json;
  readonly error: TaskError | null;
  readonly warnings: readonly TaskWarning[];
}

/** What a job's handle works with. */
export interface JobContext {
  readonly supabase: SupabaseLike;
  readonly channels: JobChannels;
}

const JOINED_POLL_MS = 15_000;
const POLL_MS = 2_000;

/**
 * A job of the platform. The handle holds nothing that the platform does not have: a new one for
 * the same id, `swarm.job(id, { after })`, continues where this one was.
 *
 * @example
 * for await (const event of job) console.log(event.type);
 * console.log(await job.result());
 */
export class Job<Output = Json> implements AsyncIterable<JobEvent> {
  readonly id: string;
  readonly #context: JobContext;
  readonly #events: EventReader;
  readonly #texts: EventReader;
  readonly #signal: AbortSignal | undefined;
  #local = new AbortController();

  constructor(context: JobContext, id: string, { after, signal }: ReadOptions = {}) {
    this.id = id;
    this.#context = context;
    this.#signal = signal;
    this.#events = this.#readerFrom(after);
    this.#texts = this.#readerFrom(after);
  }

  /** Store it to continue later: `swarm.job(id, { after: cursor })` gets the events after this. */
  get cursor(): string {
    return this.#events.cursor;
  }

  /**
   * The events after {@linkcode cursor}, until every task of the job has ended. Each comes once,
   * and those of one task in order. Leaving the loop does not end the job.
   */
  [Symbol.asyncIterator](): AsyncGenerator<JobEvent, void, undefined> {
    return this.#read(this.#events);
  }

  /** The same with a cursor of its own, for a second loop. */
  events({ after, signal }: ReadOptions = {}): AsyncGenerator<JobEvent, void, undefined> {
    return this.#read(this.#readerFrom(after), signal);
  }

  /**
   * The answers of the job's own model calls as they are written. Their text streams while this is
   * read; if Realtime fails, each answer comes whole.
   *
   * @example
   * for await (const { text } of job.text) page.textContent = text;
   */
  get text(): AsyncIterable<TextPart> {
    return { [Symbol.asyncIterator]: () => this.#readText() };
  }

  /** Events and text in one loop, with a cursor of its own; a page shows both. */
  updates({ after, ...options }: UpdateOptions = {}): AsyncGenerator<JobUpdate, void, undefined> {
    return this.#readUpdates(this.#readerFrom(after), options);
  }

  /**
   * Learns of the job's Realtime messages as they arrive, until the returned function is called.
   * Messages may be lost; the loops above lose nothing.
   */
  listen(listener: JobListener): () => void {
    return this.#context.channels.listen(this.id, listener);
  }

  /** What the job was started with. @throws SwarmClientError */
  async input(options: RequestOptions = {}): Promise<Json> {
    return (await this.#readRow<{ input: Json }>("input", options)).input;
  }

  /** The status of the job now. @throws SwarmClientError */
  async status(options: RequestOptions = {}): Promise<JobStatus> {
    return (await this.#readRow<TaskRow>("status", options)).status;
  }

  /**
   * Why the result may be incomplete or guessed: tools that failed and have not succeeded since, and
   * an answer that was cut at the output limit.
   *
   * @throws SwarmClientError
   */
  async warnings(options: RequestOptions = {}): Promise<readonly TaskWarning[]> {
    return (await this.#readRow<TaskRow>("warnings", options)).warnings;
  }

  /**
   * Waits until the job has ended, and returns its output.
   *
   * @throws SwarmClientError with the code of the job's error if it failed or was cancelled;
   *   `DETACHED` after {@linkcode detach}
   */
  async result(options: RequestOptions = {}): Promise<Output> {
    const signal = this.#signalWith(options.signal);
    const change = new ChangeSignal();
    let isJoined = false;
    const join = () =>
      this.#context.channels.listen(this.id, {
        onMessage: ({ event, payload }) => {
          if (event.startsWith("task.") && payload.task_id === this.id) change.notify();
        },
        onJoined: (joins) => {
          isJoined = joins;
          change.notify();
        },
      });
    let leave: (() => void) | undefined;
    try {
      for (let failures = 0;;) {
        try {
          const row = await this.#readRow<TaskRow>("status,output,error", { signal });
          if (row.status === "completed") {
            return await this.#wholeOutput(row.output, signal) as Output;
          }
          if (row.status === "failed" || row.status === "cancelled") throw jobError(this.id, row);
          failures = 0;
        } catch (error) {
          if (!isTransient(error)) throw error;
          await pause(backoffMs(failures++), signal);
          continue;
        }
        leave ??= join();
        await change.wait(isJoined ? JOINED_POLL_MS : POLL_MS, signal);
      }
    } finally {
      leave?.();
    }
  }

  /** Ends the job and its subtasks. Returns how many tasks this ended. @throws SwarmClientError */
  async cancel(options: RequestOptions = {}): Promise<number> {
    return await this.#rpc<number>("cancel_task", { p_master_task_id: this.id }, options);
  }

  /**
   * Ends all loops of this handle, and rejects its `result()`. The job goes on, and the handle can be
   * used again.
   */
  detach(): void {
    this.#local.abort(DETACHED);
    this.#local = new AbortController();
  }

  /**
   * Answers the review of a task of this job.
   *
   * @param task The event `review.requested`, a row of `swarm.reviews.list()`, or the task's id.
   * @throws SwarmClientError such as `REVIEW_ALREADY_ANSWERED`
   */
  async respond(
    task: ReviewedTask,
    answer: ReviewAnswer,
    options: RequestOptions = {},
  ): Promise<JobStatus> {
    return await answerReview(this.#context.supabase, { task, answer, ...options });
  }

  /**
   * Sends a signal to the workflow, which takes it with `flow.signal(name)`, now or later: once, in the
   * order of arrival.
   *
   * @returns The signal's id.
   * @throws SwarmClientError such as `SIGNAL_NOT_ACCEPTED`
   */
  async signal(
    name: string,
    data: Json = null,
    { key, taskId = this.id, ...options }: SignalOptions = {},
  ): Promise<number> {
    return await this.#rpc<number>("signal_task", {
      p_task_id: taskId,
      p_name: name,
      p_data: data,
      p_key: key ?? null,
    }, options);
  }

  /** Adds a message of the user to the ended job, which goes on. @throws SwarmClientError */
  async continue(input: string | JsonObject, options: RequestOptions = {}): Promise<this> {
    await this.#rpc("continue_task", { p_task_id: this.id, p_input: input }, options);
    return this;
  }

  /** Continues a failed or cancelled job from its last step. @throws SwarmClientError */
  async retry(options: RequestOptions = {}): Promise<this> {
    await this.#rpc("retry_task", { p_task_id: this.id }, options);
    return this;
  }

  /** Starts a new job with the steps of this one before `fromStep`. @throws SwarmClientError */
  async fork({ fromStep, taskId, changes, signal }: ForkOptions): Promise<Job<Output>> {
    const id = await this.#rpc<string>("fork_task", {
      p_task_id: taskId ?? this.id,
      p_from_seq: fromStep,
      p_changes: changes ?? null,
    }, { signal });
    return new Job<Output>(this.#context, id, { signal: this.#signal });
  }

  #readerFrom(after: string | null | undefined): EventReader {
    const { supabase, channels } = this.#context;
    return new EventReader(supabase, channels, { jobId: this.id, after });
  }

  async *#read(
    reader: EventReader,
    signal?: AbortSignal,
  ): AsyncGenerator<JobEvent, void, undefined> {
    try {
      yield* reader.read(this.#signalWith(signal));
    } catch (error) {
      if (error !== DETACHED) throw error;
    }
  }

  async *#readText(): AsyncGenerator<TextPart, void, undefined> {
    for await (const update of this.#readUpdates(this.#texts)) {
      if (update.kind === "text") yield update.part;
    }
  }

  async *#readUpdates(
    reader: EventReader,
    { signal: given, text: isTextWanted = true }: UpdateOptions = {},
  ): AsyncGenerator<JobUpdate, void, undefined> {
    const signal = this.#signalWith(given);
    const assembly = new TextAssembly();
    const signals = followJob(this.#context, {
      jobId: this.id,
      events: reader,
      isTextWanted,
      signal,
    });
    try {
      for await (const next of signals) {
        if (next.kind === "text") yield* textUpdates(assembly.add(next.delta));
        if (next.kind !== "event") continue;
        const { event, cursor } = next;
        const isOwn = event.task_id === this.id;
        if (isOwn && isTextWanted) yield* textUpdates(assembly.note(event));
        const output = isOwn && event.type === "task.completed"
          ? await untilAnswered(() => this.#wholeOutput(event.data.output ?? null, signal), signal)
          : undefined;
        yield { kind: "event", event, cursor, ...output !== undefined && { output } };
      }
    } catch (error) {
      if (error !== DETACHED) throw error;
    }
  }

  #signalWith(signal?: AbortSignal): AbortSignal {
    const given = [this.#local.signal, this.#signal, signal].filter((one) => one !== undefined);
    return AbortSignal.any(given);
  }

  async #rpc<Data>(name: string, args: object, options: RequestOptions): Promise<Data> {
    return await callRpc<Data>(this.#context.supabase, name, args, options);
  }

  async #readRow<Row>(columns: string, options: RequestOptions): Promise<Row> {
    const [row] = await readRows<Row>(
      this.#context.supabase,
      "tasks",
      (tasks) => tasks.select(columns).eq("id", this.id).limit(1),
      options,
    );
    if (row !== undefined) return row;
    throw new SwarmClientError({
      code: "TASK_NOT_FOUND",
      message: `Cannot find job ${this.id}`,
      hint: "Check the id, and that its owner is signed in.",
      status: 404,
    });
  }

  /** A large output is stored as a file, and the row refers to it. */
  async #wholeOutput(output: Json, signal: AbortSignal): Promise<Json> {
    const path = (output as { storage_path?: unknown } | null)?.storage_path;
    if (typeof path !== "string" || !/\/_output\.(txt|json)$/.test(path)) return output;
    const file = await useBucket<Blob>(
      this.#context.supabase,
      "supaswarm-data",
      (bucket) => bucket.download(path, {}, { signal }),
      { signal },
    );
    const text = await file.text();
    return path.endsWith(".json") ? JSON.parse(text) : text;
  }
}

const DETACHED = new SwarmClientError({
  code: "DETACHED",
  message: "This handle was detached from its job",
  hint: "The job goes on; swarm.job(id) returns a new handle.",
});

function textUpdates(parts: readonly TextPart[]): JobUpdate[] {
  return parts.map((part) => ({ kind: "text", part }));
}
