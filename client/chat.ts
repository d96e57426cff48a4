import {
  type ChatAnswer,
  type ChatRequest,
  type ChatStart,
  findChat,
  newestAnswer,
  readAnswer,
  requestAnswer,
} from "./chat_answer.ts";
import { readHistory } from "./chat_history.ts";
import type { HistoryMessage } from "./chat_history.ts";
import type { MessageInput } from "./chat_message.ts";
import type { ChatPart } from "./chat_part.ts";
import type { ChatPlatform } from "./chat_platform.ts";
import { clientChatPlatform } from "./client_chat_platform.ts";
import type { Files } from "./files.ts";
import type { JobContext } from "./job.ts";
import type { JsonObject } from "./json.ts";
import type { RequestOptions } from "./supabase.ts";
import { unlessAborted } from "./waiting.ts";

/** How a chat answers. */
export interface ChatOptions {
  /** Turns a message of the user into the agent's input. @default its text, and its files as `files` */
  readonly input?: MessageInput;
  /** Own data of the job, beside `chat_id`. */
  readonly metadata?: JsonObject;
  /** More of the request to create the job, as `supaswarm-create-task` takes it. */
  readonly request?: JsonObject;
  /**
   * What `stop()` of the page does: end the job, or only stop reading while the job goes on.
   *
   * @default "cancel"
   */
  readonly onStop?: "cancel" | "detach";
}

/** A request of the AI SDK to read on. */
export interface ReconnectRequest {
  readonly chatId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** Opens the chats of an agent over the user's `supabase-js` client. */
export function openChat(
  context: JobContext,
  { agent, files, options }: {
    readonly agent: string;
    readonly files: Files;
    readonly options: ChatOptions;
  },
): Chat {
  return new Chat(clientChatPlatform(context, files), agent, options);
}

/**
 * A `ChatTransport` of the AI SDK whose answers are durable jobs. A chat is a job: a message
 * continues it, another version of an answer forks it.
 *
 * @example
 * const chat = swarm.chat("writer");
 * const { messages, sendMessage } = useChat({ id, transport: chat, resume: true });
 */
export class Chat {
  /** A resumed answer is read from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #platform: ChatPlatform;
  readonly #start: ChatStart;
  readonly #onStop: "cancel" | "detach";
  /** How often each chat was read on. */
  readonly #reconnects = new Map<string, number>();
  /** The chats whose messages were read without the answer that was being written. */
  readonly #unanswered = new Set<string>();

  constructor(
    platform: ChatPlatform,
    agent: string,
    { input, metadata, request, onStop = "cancel" }: ChatOptions,
  ) {
    this.#platform = platform;
    this.#start = {
      agent,
      ...input && { input },
      request: { ...request, ...metadata && { metadata } },
    };
    this.#onStop = onStop;
  }

  /** Sends the newest message, or asks for another answer. @throws SwarmClientError */
  readonly sendMessages = async (
    { abortSignal, ...request }: ChatRequest & ReconnectRequest,
  ): Promise<ReadableStream<ChatPart>> => {
    const answering = requestAnswer(this.#platform, request, this.#start);
    try {
      const answer = await unlessAborted(answering, abortSignal);
      return this.#stream(answer, abortSignal, () => true);
    } catch (error) {
      if (abortSignal?.aborted && this.#onStop === "cancel") {
        void answering.then(({ job_id: id }) => this.#cancelJob(id), () => {});
      }
      throw error;
    }
  };

  /** The answer that a job is writing, from its beginning on; null if nothing is written. */
  readonly reconnectToStream = async (
    { chatId, abortSignal }: ReconnectRequest,
  ): Promise<ReadableStream<ChatPart> | null> => {
    const count = (this.#reconnects.get(chatId) ?? 0) + 1;
    this.#reconnects.set(chatId, count);
    const chat = await findChat(this.#platform, chatId, abortSignal);
    // It may have ended since the page has read the messages.
    const isMissing = this.#unanswered.delete(chatId);
    if (chat === null || !isMissing && (chat.has_ended || chat.is_ending)) return null;
    // A page that resumes again aborts the request before, which is no stop.
    const isStop = () => this.#reconnects.get(chatId) === count;
    return this.#stream(newestAnswer(chat), abortSignal, isStop);
  };

  /**
   * The newest messages of a chat, for a page that keeps none. Without the answer that is being
   * written, which `reconnectToStream()` has.
   *
   * @throws SwarmClientError
   */
  async messages(chatId: string, options: RequestOptions = {}): Promise<HistoryMessage[]> {
    const { messages } = await readHistory(this.#platform, chatId, options);
    if (messages.at(-1)?.role === "user") this.#unanswered.add(chatId);
    return messages;
  }

  /** Ends the job of a chat. @throws SwarmClientError */
  async cancel(chatId: string, options: RequestOptions = {}): Promise<void> {
    const chat = await findChat(this.#platform, chatId, options.signal);
    if (chat === null || chat.has_ended) return;
    await this.#platform.call("cancel_task", { p_master_task_id: chat.task_id }, options);
  }

  #stream(
    answer: ChatAnswer,
    abortSignal: AbortSignal | undefined,
    isStop: () => boolean,
  ): ReadableStream<ChatPart> {
    const closed = new AbortController();
    const onAbort = () => {
      closed.abort(abortSignal?.reason);
      if (this.#onStop === "detach") return;
      // After the page has begun its next request, if it has one.
      setTimeout(() => {
        if (isStop()) void this.#cancelJob(answer.job_id);
      });
    };
    if (abortSignal?.aborted) onAbort();
    else abortSignal?.addEventListener("abort", onAbort, { once: true });
    const parts = readAnswer(this.#platform, answer, { signal: closed.signal });
    return new ReadableStream<ChatPart>({
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (!done) return controller.enqueue(value);
          abortSignal?.removeEventListener("abort", onAbort);
          controller.close();
        } catch (error) {
          abortSignal?.removeEventListener("abort", onAbort);
          controller.error(error);
        }
      },
      async cancel(reason) {
        abortSignal?.removeEventListener("abort", onAbort);
        closed.abort(reason);
        await parts.return();
      },
    });
  }

  async #cancelJob(jobId: string): Promise<void> {
    try {
      await this.#platform.call("cancel_task", { p_master_task_id: jobId }, {});
    } catch {
      // Offline, or it has ended: the page shows the job's state when it reads again.
    }
  }
}
