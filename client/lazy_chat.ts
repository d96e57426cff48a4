import type { Chat, ReconnectRequest } from "./chat.ts";
import type { ChatRequest } from "./chat_answer.ts";
import type { HistoryMessage } from "./chat_history.ts";
import type { ChatPart } from "./chat_part.ts";
import type { RequestOptions } from "./supabase.ts";

/**
 * A `ChatTransport` of the AI SDK (`useChat`) whose answers are durable jobs. A chat is a job: a
 * message continues it, another version of an answer forks it. Its code is loaded when it is used.
 *
 * @example
 * const chat = swarm.chat("writer");
 * const { messages, sendMessage } = useChat({ id, transport: chat, resume: true });
 */
export class SwarmChat {
  /** A resumed answer is read from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #load: () => Promise<Chat>;
  #loading: Promise<Chat> | undefined;

  constructor(load: () => Promise<Chat>) {
    this.#load = load;
  }

  /** Sends the newest message, or asks for another answer. @throws SwarmClientError */
  readonly sendMessages = async (
    request: ChatRequest & ReconnectRequest,
  ): Promise<ReadableStream<ChatPart>> => (await this.#chat()).sendMessages(request);

  /** The answer that a job is writing, from its beginning on; null if nothing is written. */
  readonly reconnectToStream = async (
    request: ReconnectRequest,
  ): Promise<ReadableStream<ChatPart> | null> => (await this.#chat()).reconnectToStream(request);

  /**
   * The messages of a chat, for a page that keeps none. Without the answer that is being written,
   * which `reconnectToStream()` has.
   *
   * @throws SwarmClientError
   */
  async messages(chatId: string, options: RequestOptions = {}): Promise<HistoryMessage[]> {
    return (await this.#chat()).messages(chatId, options);
  }

  /** Ends the job of a chat. @throws SwarmClientError */
  async cancel(chatId: string, options: RequestOptions = {}): Promise<void> {
    await (await this.#chat()).cancel(chatId, options);
  }

  async #chat(): Promise<Chat> {
    try {
      return await (this.#loading ??= this.#load());
    } catch (error) {
      // Offline: the next request loads it.
      this.#loading = undefined;
      throw error;
    }
  }
}
