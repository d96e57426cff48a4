import { canonicalJson } from "../../platform/values/canonical_json.ts";
import { asJsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { McpMessage } from "./mcp_message.ts";

/** How long an answer is kept for requests that arrived before it and wait for their turn. */
const KEPT_MS = 1_000;
/** Answers that are kept; the oldest is forgotten first. */
const MAX_KEPT = 20;
/** Headers that decide about an answer, besides the caller's. */
const DECIDING_HEADERS = ["accept", "origin", "mcp-protocol-version", "mcp-method"] as const;

/** One request for a list. */
export interface ListRequest {
  readonly message: McpMessage;
  /** Everything that decides what this caller may see, and their credential. */
  readonly identity: JsonValue;
  /** When the request reached the endpoint, on the clock of {@linkcode SharedLists}. */
  readonly arrivedAtMs: number;
}

interface ListAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

interface SharedList {
  /** Its messages have this id instead of those of the requests. */
  readonly id: string;
  readonly answer: Promise<ListAnswer>;
  /** Null while it is computed. */
  endedAtMs: number | null;
}

/**
 * Shares the answers to `tools/list` between requests of one caller that an isolate gets at the same
 * time, because clients ask for it in bursts and it is the most expensive answer. A request never
 * gets an answer that was complete before it arrived, nor one of another caller, client or
 * credential.
 */
export class SharedLists {
  readonly #nowMs: () => number;
  /** By caller and question, the oldest first. */
  readonly #lists = new Map<string, SharedList>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Answers a message: from an answer that was not complete when it arrived, or by `compute`, which
   * gets the message without its signal, because others may wait for the answer too.
   */
  async answer(
    request: ListRequest,
    compute: (message: McpMessage) => Promise<Response>,
  ): Promise<Response> {
    const { message, arrivedAtMs } = request;
    const { id, ...question } = asJsonObject(message.body);
    const isList = question.method === "tools/list" &&
      (typeof id === "string" || typeof id === "number");
    if (!isList) return await compute(message);
    const key = keyOf(request, question);
    this.#forget();
    const known = this.#lists.get(key);
    const isNew = known === undefined ||
      (known.endedAtMs !== null && known.endedAtMs <= arrivedAtMs);
    const list = isNew ? this.#begin(key, message, compute) : known;
    const { status, headers, text } = await list.answer;
    return new Response(text.replace(`"${list.id}"`, () => JSON.stringify(id)), {
      status,
      headers: headers.map(([name, value]) => [name, value]),
    });
  }

  #begin(
    key: string,
    message: McpMessage,
    compute: (message: McpMessage) => Promise<Response>,
  ): SharedList {
    const id = crypto.randomUUID();
    const { url, method, headers } = message.request;
    const answer = compute({
      ...message,
      request: new Request(url, { method, headers }),
      body: { ...asJsonObject(message.body), id },
    }).then(async (response) => ({
      status: response.status,
      headers: [...response.headers],
      text: await response.text(),
    }));
    const list: SharedList = { id, answer, endedAtMs: null };
    this.#lists.delete(key);
    this.#lists.set(key, list);
    const end = () => void (list.endedAtMs = this.#nowMs());
    answer.then(end, end);
    return list;
  }

  #forget(): void {
    const before = this.#nowMs() - KEPT_MS;
    for (const [key, { endedAtMs }] of this.#lists) {
      const isOld = endedAtMs !== null && endedAtMs < before;
      if (isOld || this.#lists.size > MAX_KEPT) this.#lists.delete(key);
    }
  }
}

function keyOf({ message, identity }: ListRequest, question: JsonValue): string {
  const { url, headers } = message.request;
  return canonicalJson([
    identity,
    url,
    question,
    DECIDING_HEADERS.map((name) => headers.get(name)),
  ]);
}
