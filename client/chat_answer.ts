import { ChatAssembly } from "./chat_assembly.ts";
import {
  answersIn,
  type ChatMessage,
  type GivenAnswer,
  inputOf,
  type MessageInput,
} from "./chat_message.ts";
import type { ChatPart } from "./chat_part.ts";
import type { ChatPlatform, ChatState } from "./chat_platform.ts";
import type { Json, JsonObject } from "./json.ts";
import { reviewId } from "./review_id.ts";

/** What a page asks for, as the AI SDK's `ChatTransport` has it. */
export interface ChatRequest {
  readonly trigger: "submit-message" | "regenerate-message";
  readonly chatId: string;
  /** The message that is replaced. */
  readonly messageId?: string | undefined;
  readonly messages: readonly ChatMessage[];
}

/** How a chat starts its job. */
export interface ChatStart {
  readonly agent: string;
  /** @default the text of the message, and its files as `files` */
  readonly input?: MessageInput;
  /** More of the request to create the job, such as its budget. */
  readonly request?: JsonObject;
}

/** An answer that can be read. */
export interface ChatAnswer {
  readonly job_id: string;
  readonly step: number;
  /** The cursor before the answer. */
  readonly after: string | null;
  /** Reviews up to which the page has the answer. */
  readonly known: readonly string[];
  /** The whole text of an answer whose events are gone; null if it had none. @default not gone */
  readonly text?: string | null;
}

const MAX_ATTEMPTS = 4;
const RETRY_MS = 500;

/**
 * Does what a page asks for: starts the job, continues it, forks it, or answers its reviews. What
 * was done although the answer was lost is not done again.
 *
 * @throws the platform's errors
 */
export async function requestAnswer(
  platform: ChatPlatform,
  request: ChatRequest,
  start: ChatStart,
  signal?: AbortSignal,
): Promise<ChatAnswer> {
  const chat = new OpenedChat(platform, request, start, signal);
  return await chat.answer();
}

class OpenedChat {
  readonly #platform: ChatPlatform;
  readonly #request: ChatRequest;
  readonly #start: ChatStart;
  readonly #signal: AbortSignal | undefined;

  constructor(
    platform: ChatPlatform,
    request: ChatRequest,
    start: ChatStart,
    signal: AbortSignal | undefined,
  ) {
    this.#platform = platform;
    this.#request = request;
    this.#start = start;
    this.#signal = signal;
  }

  async answer(): Promise<ChatAnswer> {
    const { trigger, messages, messageId } = this.#request;
    const last = messages.at(-1);
    const before = await this.#find();
    if (last === undefined) throw this.#refuse("it has no messages");
    if (trigger === "regenerate-message") {
      return await this.#fork(this.#known(before), null);
    }
    if (last.role === "assistant") return await this.#respond(this.#known(before), last);
    if (before === null) return await this.#create(last);
    const input = await this.#inputOf(last);
    if (messageId !== undefined) return await this.#fork(before, input);
    const found = await this.#withMessage(before, input);
    if (found !== null) return newestAnswer(found);
    await this.#untilEnded(before);
    try {
      await this.#once(before, "continue_task", {
        p_task_id: before.task_id,
        p_input: input,
        p_after_step: before.step,
      });
    } catch (error) {
      // Of two equal requests at the same time, one has continued the job.
      const now = await this.#withMessage(this.#known(await this.#find()), input);
      if (now === null) throw error;
      return newestAnswer(now);
    }
    return await this.#newest();
  }

  /** The chat, if it has the newest message already: the request was sent before. */
  async #withMessage(
    { user_steps: steps }: ChatState,
    input: string | JsonObject,
  ): Promise<ChatState | null> {
    if (this.#request.messages.filter(isOfUser).length !== steps.length + 1) return null;
    const chat = this.#known(await this.#find({ p_with_messages: true }));
    const hasIt = chat.user_steps.length === steps.length &&
      isSame(chat.messages?.at(-1)?.input, input);
    return hasIt ? chat : null;
  }

  async #create(message: ChatMessage): Promise<ChatAnswer> {
    const { chatId } = this.#request;
    const { agent, request = {} } = this.#start;
    const body = {
      ...request,
      agent,
      input: await this.#inputOf(message),
      metadata: { ...request.metadata as JsonObject | undefined, chat_id: chatId },
      // A message that is sent again finds the job that it has started. Whole characters
      // are kept: the database refuses half of one.
      idempotency_key: [...`chat:${chatId}:${message.id}`].slice(-255).join(""),
      watch: true,
    };
    const id = await this.#retried(() => this.#platform.create(body, this.#options));
    return { job_id: id, step: 0, after: null, known: [] };
  }

  /** Replaces the newest messages: from the answer on, or from the message of the user on. */
  async #fork(before: ChatState, input: string | JsonObject | null): Promise<ChatAnswer> {
    const { messages } = this.#request;
    const turn = messages.filter(isOfUser).length - 1;
    const step = [0, ...before.user_steps][turn];
    if (step === undefined) throw this.#refuse("the chat does not have these messages");
    if (!before.has_ended) {
      await this.#call("cancel_task", { p_master_task_id: before.task_id });
      await this.#untilEnded({ ...before, is_ending: true });
    }
    const changes = input === null ? null : step === 0 ? { input } : { message: input };
    await this.#once(before, "fork_task", {
      p_task_id: before.task_id,
      p_from_seq: input !== null && step > 0 ? step : step + 1,
      p_changes: changes,
    });
    return await this.#newest();
  }

  async #respond(before: ChatState, message: ChatMessage): Promise<ChatAnswer> {
    const answers = answersIn(message);
    for (const review of before.open_reviews) {
      const answer = answers.find(({ id }) => id === reviewId(review));
      if (answer !== undefined) await this.#respondTo(review, answer);
    }
    return {
      job_id: before.task_id,
      step: before.step,
      after: before.cursor,
      known: answers.map(({ id }) => id),
    };
  }

  async #respondTo(
    { task_id: taskId, seq, options }: ChatState["open_reviews"][number],
    { approved, comments, choice, response }: GivenAnswer,
  ): Promise<void> {
    if (response !== undefined && !isObject(response)) {
      throw this.#platform.refuse({
        code: "BODY_INVALID",
        message: `Cannot answer the review of task ${taskId}: its response is not an object`,
        hint: "Send response as an object with the members of the review's schema.",
      });
    }
    // A page that only approves gives its choice as the reason.
    const chosen = choice ?? options?.find((option) => option === comments);
    await this.#retried(async () => {
      try {
        await this.#call("respond_to_review", {
          p_task_id: taskId,
          p_approved: approved,
          p_response: { ...response, ...chosen !== undefined && { choice: chosen } },
          p_comments: chosen === comments ? null : comments ?? null,
          // A repeated attempt must not answer the next question.
          p_seq: seq,
        });
      } catch (error) {
        // The answer of an earlier attempt was lost, or another page was first.
        if ((error as { code?: unknown }).code !== "REVIEW_ALREADY_ANSWERED") throw error;
      }
    });
  }

  /** Calls a function that changes the chat once, also if its answer is lost. */
  async #once(before: ChatState, name: string, args: JsonObject): Promise<void> {
    let hasFailed = false;
    await this.#retried(async () => {
      if (hasFailed) {
        const now = await this.#find();
        if (now?.task_id !== before.task_id || now.step !== before.step) return;
      }
      hasFailed = true;
      // Before the model is called, so that this answer streams too.
      await this.#call("watch_task", { p_task_id: before.task_id });
      await this.#call(name, args);
    });
  }

  /** A cancelled job takes a message when its running tasks have ended. */
  async #untilEnded(before: ChatState): Promise<void> {
    for (let now: ChatState | null = before; now?.is_ending;) {
      await this.#platform.pause(RETRY_MS, this.#signal);
      now = await this.#find();
    }
  }

  async #newest(): Promise<ChatAnswer> {
    return newestAnswer(this.#known(await this.#find()));
  }

  async #find(more: JsonObject = {}): Promise<ChatState | null> {
    return await findChat(this.#platform, this.#request.chatId, this.#signal, more);
  }

  #known(chat: ChatState | null): ChatState {
    return chat ?? this.#throw(chatNotFound(this.#platform, this.#request.chatId));
  }

  #throw(error: Error): never {
    throw error;
  }

  async #inputOf(message: ChatMessage): Promise<string | JsonObject> {
    return this.#start.input?.(message) ?? await inputOf(message, this.#platform);
  }

  get #options() {
    return { signal: this.#signal };
  }

  async #call(name: string, args: JsonObject): Promise<void> {
    await this.#platform.call(name, args, this.#options);
  }

  async #retried<Data>(run: () => Promise<Data>): Promise<Data> {
    for (let attempt = 1;; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !this.#platform.isTransient(error)) throw error;
        await this.#platform.pause(RETRY_MS * attempt, this.#signal);
      }
    }
  }

  #refuse(problem: string): Error {
    return this.#platform.refuse({
      code: "BODY_INVALID",
      message: `Cannot answer in chat ${this.#request.chatId}: ${problem}`,
      hint: "Send all messages of the chat, the newest last.",
    });
  }
}

/** The answer to the newest message of a chat. */
export function newestAnswer(
  { task_id: job_id, step, cursor: after, has_ended: hasEnded, messages }: ChatState,
): ChatAnswer {
  const text = hasEnded ? messages?.at(-1)?.answer : undefined;
  return { job_id, step, after, known: [], ...text !== undefined && { text } };
}

/** A page may send anything. */
function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOfUser({ role }: ChatMessage): boolean {
  return role === "user";
}

/** PostgreSQL changes the order of the keys. */
function isSame(stored: Json | undefined, input: Json): boolean {
  if (typeof stored !== "object" || stored === null) return stored === input;
  if (typeof input !== "object" || input === null) return false;
  const one = Object.entries(stored);
  const other = new Map(Object.entries(input));
  return Array.isArray(stored) === Array.isArray(input) && one.length === other.size &&
    one.every(([key, value]) => other.has(key) && isSame(value, other.get(key) ?? null));
}

/** The job of a chat; null if it has none. @param more Further arguments. @default none */
export async function findChat(
  platform: ChatPlatform,
  chatId: string,
  signal?: AbortSignal,
  more: JsonObject = {},
): Promise<ChatState | null> {
  const args = { p_chat_id: chatId, ...more };
  for (let attempt = 1;; attempt++) {
    try {
      return await platform.call<ChatState | null>("find_chat", args, { signal });
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !platform.isTransient(error)) throw error;
      await platform.pause(RETRY_MS * attempt, signal);
    }
  }
}

function chatNotFound(platform: ChatPlatform, chatId: string): Error {
  return platform.refuse({
    code: "CHAT_NOT_FOUND",
    message: `Cannot find chat ${chatId}`,
    hint: "Check its id, and that its user is signed in.",
  });
}

/** How an answer is read. */
export interface ReadAnswerOptions {
  readonly signal: AbortSignal;
  /** See {@linkcode AssembledMessage}. @default false */
  readonly canReset?: boolean;
}

/**
 * The parts of an answer, from its beginning on, until it has ended or waits for a person. A page
 * that has answered reviews gets what follows.
 */
export async function* readAnswer(
  platform: ChatPlatform,
  { job_id, step, after, known, text }: ChatAnswer,
  { signal, canReset = false }: ReadAnswerOptions,
): AsyncGenerator<ChatPart, void, undefined> {
  const assembly = new ChatAssembly({ job_id, step, canReset });
  yield assembly.start();
  if (text !== undefined) return yield* assembly.whole(text);
  const isNew = () => known.every((id) => assembly.requestedReviews.has(id));
  for await (const one of platform.follow(job_id, { after, signal })) {
    const wasNew = isNew();
    const parts = one.kind === "event"
      ? assembly.note(one.event)
      : one.kind === "text"
      ? assembly.add(one.delta)
      : assembly.waitsForPerson
      ? assembly.pause()
      : [];
    if (wasNew || assembly.hasEnded) yield* parts;
    if (assembly.hasEnded) return;
  }
}
