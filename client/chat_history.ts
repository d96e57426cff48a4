import { answerId, ChatAssembly } from "./chat_assembly.ts";
import type { ChatMetadata, ChatPart } from "./chat_part.ts";
import type { ChatPlatform, ChatState } from "./chat_platform.ts";
import type { JobEvent } from "./job_event.ts";
import type { Json } from "./json.ts";
import { readableJson } from "./json_text.ts";
import { MessageParts } from "./message_parts.ts";
import type { RequestOptions } from "./supabase.ts";

/** A message of a chat as it is stored, in the form of the AI SDK's `UIMessage`. */
export interface HistoryMessage {
  id: string;
  role: "user" | "assistant";
  metadata: ChatMetadata;
  // deno-lint-ignore no-explicit-any -- the parts of a page's own message type
  parts: any[];
}

interface EventPage {
  readonly events: readonly JobEvent[];
  readonly next_cursor: string;
  readonly has_more: boolean;
}

/** Answers of a chat, by the step of the message that they answer; null for one being written. */
type Answers = Map<number, HistoryMessage | null>;

/** Pages of events, of 500 and 1 MiB at most, that one reading of a chat takes. */
const MAX_PAGES = 20;

/** The newest messages of a chat. */
export interface ChatHistory {
  readonly messages: HistoryMessage[];
  /** Whether the chat has others before them. */
  readonly hasEarlier: boolean;
}

/**
 * Reads the newest messages of a chat: those that find_chat() returns, or only the newest one if their
 * answers have too many events. An answer that is being written is left out.
 */
export async function readHistory(
  platform: ChatPlatform,
  chatId: string,
  options: RequestOptions,
): Promise<ChatHistory> {
  const args = { p_chat_id: chatId, p_with_messages: true };
  const chat = await platform.call<ChatState | null>("find_chat", args, options);
  if (chat === null) return { messages: [], hasEarlier: false };
  const { task_id: job_id, messages: found = [], messages_cursor = null, cursor } = chat;
  const reading = {
    jobId: job_id,
    after: messages_cursor,
    steps: found,
    pages: { left: MAX_PAGES },
    options,
  };
  const whole = await readAnswers(platform, reading);
  const [newest, answers] = reading.pages.left >= 0 || found.length < 2 || cursor === null
    ? [found, whole]
    : [
      found.slice(-1),
      await readAnswers(platform, {
        ...reading,
        after: cursor,
        steps: found.slice(-1),
        pages: { left: MAX_PAGES },
      }),
    ];
  const messages = newest.flatMap(({ step, input, answer: text }) => {
    const metadata = { job_id, step };
    const answer = answers.has(step) ? answers.get(step) : textAnswer(metadata, text);
    return [
      { id: `${answerId(metadata)}-user`, role: "user" as const, metadata, parts: partsOf(input) },
      ...answer ? [answer] : [],
    ];
  });
  return { messages, hasEarlier: chat.has_earlier === true || newest.length < found.length };
}

/** An answer whose events are gone. */
function textAnswer(metadata: ChatMetadata, text: string | null = null): HistoryMessage | null {
  if (text === null) return null;
  const parts = [{ type: "text", text, state: "done" }];
  return { id: answerId(metadata), role: "assistant", metadata, parts };
}

interface Reading {
  readonly jobId: string;
  /** A cursor before the answers; null for all events. */
  readonly after: string | null;
  readonly steps: readonly { readonly step: number }[];
  /** How many more pages of events may be read; negative when there are others. */
  readonly pages: { left: number };
  readonly options: RequestOptions;
}

async function readAnswers(platform: ChatPlatform, reading: Reading): Promise<Answers> {
  const { jobId, steps } = reading;
  const events = await eventsIfKept(platform, reading);
  const created = events.find((event) => event.type === "task.created" && event.task_id === jobId);
  const source = created?.type === "task.created" ? created.data.forked_from : undefined;
  // A fork has the steps before its beginning, but not their events.
  const first = source === undefined
    ? 0
    : Math.max(0, ...steps.map(({ step }) => step).filter((step) => step <= source.step_seq));
  const answers: Answers = source === undefined || first === 0
    ? new Map()
    : await readAnswers(platform, { ...reading, jobId: source.task_id, after: null });
  for (const step of answers.keys()) if (step >= first) answers.delete(step);
  // Without the first event, those up to the next message belong to an unknown one.
  for (const turn of turnsOf(events, { jobId, first: created === undefined ? null : first })) {
    answers.set(
      turn.step,
      assemble({ job_id: jobId, step: turn.step }, turn.events, reading.pages),
    );
  }
  return answers;
}

/** The events after each message of the user. */
function turnsOf(
  events: readonly JobEvent[],
  { jobId, first }: { readonly jobId: string; readonly first: number | null },
): { readonly step: number; readonly events: JobEvent[] }[] {
  const turns = first === null ? [] : [{ step: first, events: [] as JobEvent[] }];
  for (const event of events) {
    if (
      event.type === "task.resumed" && event.task_id === jobId &&
      event.data.reason === "continued"
    ) {
      turns.push({ step: event.data.step_seq, events: [] });
    }
    turns.at(-1)?.events.push(event);
  }
  return turns;
}

/**
 * An answer that has ended or waits for a person, or the beginning of one with too many events; null
 * for one that is being written.
 */
function assemble(
  message: ChatMetadata,
  events: readonly JobEvent[],
  pages: Reading["pages"],
): HistoryMessage | null {
  const assembly = new ChatAssembly(message);
  const parts = new MessageParts();
  const take = (taken: readonly ChatPart[]) => taken.forEach((part) => parts.add(part));
  for (const event of events) take(assembly.note(event));
  if (!assembly.hasEnded && pages.left >= 0) {
    if (!assembly.waitsForPerson) return null;
    take(assembly.pause());
  }
  return { id: answerId(message), role: "assistant", metadata: message, parts: parts.parts };
}

/** The events of a job; none if it was deleted, as the original of an old fork. */
async function eventsIfKept(platform: ChatPlatform, reading: Reading): Promise<JobEvent[]> {
  try {
    return await readEvents(platform, reading);
  } catch (error) {
    if ((error as { code?: unknown }).code === "TASK_NOT_FOUND") return [];
    throw error;
  }
}

async function readEvents(
  platform: ChatPlatform,
  { jobId, after, pages, options }: Reading,
): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  let cursor = after;
  while (pages.left-- > 0) {
    const page: EventPage = await platform.call<EventPage>("read_events", {
      p_task_id: jobId,
      p_cursor: cursor,
      p_limit: 500,
      p_max_data_bytes: 1_048_576,
    }, options);
    events.push(...page.events);
    if (!page.has_more) return events;
    cursor = page.next_cursor;
  }
  return events;
}

function partsOf(input: Json): object[] {
  const { text, paths } = readInput(input);
  return [
    ...paths.map((path) => ({
      type: "file",
      url: `/storage/v1/object/authenticated/supaswarm-data/${path}`,
      mediaType: "application/octet-stream",
    })),
    ...text === "" ? [] : [{ type: "text", text }],
  ];
}

/**
 * The text and the files of a stored message of the user. An input with one text, whatever the
 * field's name, has this text.
 */
export function readInput(
  input: Json,
): { readonly text: string; readonly paths: readonly string[] } {
  if (typeof input === "string") return { text: input, paths: [] };
  const { files, ...fields } = input as Record<string, Json>;
  const [text, ...others] = Object.values(fields);
  return typeof text === "string" && others.length === 0
    ? { text, paths: Array.isArray(files) ? files.map(String) : [] }
    : { text: readableJson(input), paths: [] };
}
