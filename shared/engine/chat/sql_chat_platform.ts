import type { ChatPlatform } from "../../../client/chat_platform.ts";
import type { JobSignal } from "../../../client/follow_job.ts";
import type { JobEvent } from "../../../client/job_event.ts";
import type { TransactionSql } from "../../vendor/postgres.js";
import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { attempt } from "../../platform/db/to_swarm_error.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Caller } from "../../platform/http/caller.ts";
import { sleep } from "../../platform/values/sleep.ts";
import { createTaskRequest } from "../tasks/create_task_request.ts";
import { createTask } from "../tasks/create_task.ts";
import { CHAT_CALLS, type ChatCall, isChatCall } from "./chat_calls.ts";

/** What a chat of a request needs. */
export interface SqlChatOptions {
  readonly sql: Sql;
  readonly caller: Exclude<Caller, { readonly kind: "agent" }>;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/** While a job writes, and while it is quiet. */
const FIRST_LOOK_MS = 300;
const LAST_LOOK_MS = 1_500;
/** Below the minute for which a job is marked as watched. */
const RENEW_WATCH_MS = 20_000;
/** A piece of text can become visible after pieces that were sent later. */
const OVERLAP_SECONDS = 3;
const PAGE_SIZE = 200;
const MAX_DATA_BYTES = 262_144;

const eventPage = z.object({
  events: z.array(z.custom<JobEvent>((event) => typeof event === "object")),
  next_cursor: z.string(),
  has_more: z.boolean(),
});
const pieceRow = z.object({
  id: z.string(),
  step_seq: z.int(),
  text_offset: z.int(),
  text: z.string(),
});
const answerSoFar = z.object({ step_seq: z.int(), text: z.string() }).nullable();

/** The platform of a chat over the functions' own connection, as the caller of a request. */
export function createSqlChatPlatform(options: SqlChatOptions): ChatPlatform {
  const call = <Data>(name: ChatCall, args: Readonly<Record<string, unknown>>) =>
    callAsCaller<Data>(name, args, options);
  return {
    async create(body) {
      const { sql, caller, traceparent, tracestate } = options;
      const isUser = caller.kind === "user";
      const { answer } = await createTask(sql, parseRequest(body), {
        actor: !isUser ? "service" : caller.clientId === null ? "user" : "client",
        userId: isUser ? caller.userId : null,
        clientId: isUser ? caller.clientId : null,
        taskId: null,
        traceparent,
        tracestate,
      });
      return answer.task_id;
    },
    call<Data>(name: string, args: Readonly<Record<string, unknown>>): Promise<Data> {
      if (!isChatCall(name)) throw new TypeError(`A chat does not call ${name}`);
      return call<Data>(name, args);
    },
    follow: (jobId, { after, signal }) => follow(jobId, { after, signal, call, sql: options.sql }),
    upload: () =>
      Promise.reject(
        new SwarmError("BODY_INVALID", "Cannot send the message: its file is not in Storage", {
          hint: "Upload it to the user's folder in supaswarm-data, and send " +
            "/storage/v1/object/authenticated/supaswarm-data/<path> as the url of the part.",
        }),
      ),
    pause: (durationMs, signal = new AbortController().signal) => sleep(durationMs, signal),
    // The client repeats what fails.
    isTransient: () => false,
    refuse: ({ code, message, hint }) => new SwarmError(code, message, { hint }),
  };
}

function parseRequest(body: object) {
  const parsed = createTaskRequest.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new SwarmError("BODY_INVALID", "Cannot create the job: its request has the wrong form", {
    hint: "Send what supaswarm-create-task takes.",
    details: {
      issues: parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`),
    },
  });
}

async function callAsCaller<Data>(
  name: ChatCall,
  args: Readonly<Record<string, unknown>>,
  { sql, caller }: SqlChatOptions,
): Promise<Data> {
  const role = caller.kind === "user" ? "authenticated" : "service_role";
  const claims = caller.kind === "user"
    ? { ...caller.claims, sub: caller.userId, role }
    : { role, supaswarm_actor: "service" };
  const rows = await attempt(
    "answer in the chat",
    () =>
      sql.begin(async (transaction: TransactionSql) => {
        await transaction`
          select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true),
            set_config('role', ${role}, true)`;
        return await CHAT_CALLS[name](transaction, args);
      }),
  );
  return (rows as unknown as readonly { readonly value: Data }[])[0]?.value as Data;
}

/** Polls, because an isolate that holds a socket for each reader would run out of them. */
async function* follow(
  jobId: string,
  { after, signal, call, sql }: {
    readonly after: string | null;
    readonly signal: AbortSignal;
    readonly call: <Data>(name: ChatCall, args: Readonly<Record<string, unknown>>) => Promise<Data>;
    readonly sql: Sql;
  },
): AsyncGenerator<JobSignal, void, undefined> {
  const texts = new TextPieces(jobId, sql);
  let cursor = after;
  let watchUntilMs = -Infinity;
  let lookMs = FIRST_LOOK_MS;
  for (;;) {
    signal.throwIfAborted();
    if (performance.now() >= watchUntilMs) {
      await call("watch_task", { p_task_id: jobId });
      watchUntilMs = performance.now() + RENEW_WATCH_MS;
    }
    const page = eventPage.parse(
      await call<unknown>("read_events", {
        p_task_id: jobId,
        p_cursor: cursor,
        p_limit: PAGE_SIZE,
        p_max_data_bytes: MAX_DATA_BYTES,
      }),
    );
    cursor = page.next_cursor;
    for (const event of page.events) yield { kind: "event", event };
    if (page.has_more) continue;
    yield { kind: "caught_up" };
    if (texts.isNew) {
      const soFar = answerSoFar.parse(await call<unknown>("read_answer", { p_task_id: jobId }));
      if (soFar !== null) {
        yield {
          kind: "text",
          delta: { step: soFar.step_seq, offset: 0, text: soFar.text, isRead: true },
        };
      }
    }
    const pieces = await texts.read();
    for (const { step_seq: step, text_offset: offset, text } of pieces) {
      yield { kind: "text", delta: { step, offset, text } };
    }
    const isQuiet = page.events.length === 0 && pieces.length === 0;
    lookMs = isQuiet ? Math.min(lookMs * 1.3, LAST_LOOK_MS) : FIRST_LOOK_MS;
    await sleep(lookMs, signal);
  }
}

/** The text that a task streams, each piece once. */
class TextPieces {
  readonly #jobId: string;
  readonly #sql: Sql;
  readonly #seen = new Set<string>();
  #readAtMs: number | null = null;

  constructor(jobId: string, sql: Sql) {
    this.#jobId = jobId;
    this.#sql = sql;
  }

  get isNew(): boolean {
    return this.#readAtMs === null;
  }

  /** The caller has checked who may see the task. */
  async read() {
    const nowMs = performance.now();
    const seconds = (nowMs - (this.#readAtMs ?? nowMs)) / 1_000 + OVERLAP_SECONDS;
    this.#readAtMs = nowMs;
    const rows = await attempt("read the text", () =>
      this.#sql`
        select id, step_seq, text_offset, text
        from private.streamed_text(
          p_task_id => ${this.#jobId}::uuid, p_seconds => ${seconds}::float8)`);
    const pieces = pieceRow.array().parse(rows).filter(({ id }) => !this.#seen.has(id));
    for (const { id } of pieces) this.#seen.add(id);
    return pieces;
  }
}
