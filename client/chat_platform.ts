import type { JobSignal } from "./follow_job.ts";
import type { Json, JsonObject } from "./json.ts";
import type { RequestOptions } from "./supabase.ts";

/** A file of a message of the user. */
export interface MessageFile {
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string;
}

/** What a chat needs of the platform, as its user. */
export interface ChatPlatform {
  /** Creates a job and returns its id. @throws an error of {@linkcode isTransient} to repeat it */
  create(body: JsonObject, options: RequestOptions): Promise<string>;
  /** Calls a database function. */
  call<Data>(name: string, args: JsonObject, options: RequestOptions): Promise<Data>;
  /** The events of a job after a cursor, with its text. */
  follow(
    jobId: string,
    options: { readonly after: string | null; readonly signal: AbortSignal },
  ): AsyncIterable<JobSignal>;
  /** Stores a file of a message, and returns its path. */
  upload(file: MessageFile): Promise<string>;
  /** Waits. */
  pause(durationMs: number, signal?: AbortSignal): Promise<void>;
  /** Whether the same request may succeed later. */
  isTransient(error: unknown): boolean;
  /** An error about what the page asks for. */
  refuse(problem: ChatProblem): Error;
}

/** What is wrong with what a page asks for. */
export interface ChatProblem {
  readonly code: "CHAT_NOT_FOUND" | "BODY_INVALID";
  readonly message: string;
  readonly hint: string;
}

/** The job of a chat, as the database function `find_chat` returns it. */
export interface ChatState {
  readonly task_id: string;
  readonly agent: string;
  readonly status: string;
  readonly has_ended: boolean;
  /** For how long; null before. */
  readonly ended_seconds: number | null;
  /** It was cancelled, and its running tasks have not ended yet. */
  readonly is_ending: boolean;
  /** The steps of the messages of the user after the first. */
  readonly user_steps: readonly number[];
  /**
   * The newest of them, if they were asked for, with the text of each answer whose events are gone;
   * null if it had none.
   */
  readonly messages?: readonly {
    readonly step: number;
    readonly input: Json;
    readonly answer?: string | null;
  }[];
  /** Whether there are others before {@linkcode messages}. */
  readonly has_earlier?: boolean;
  /** Before the answers to {@linkcode messages}; null for all events. */
  readonly messages_cursor?: string | null;
  /** The step of the newest message of the user; 0 for the first. */
  readonly step: number;
  /** Before the answer to the newest message. */
  readonly cursor: string | null;
  readonly open_reviews: readonly {
    readonly task_id: string;
    readonly seq: number;
    readonly options: readonly Json[] | null;
  }[];
}
