import { findChat, newestAnswer, requestAnswer } from "../../client/chat_answer.ts";
import { readHistory } from "../../client/chat_history.ts";
import type { ChatPlatform } from "../../client/chat_platform.ts";
import type { AgUiRun } from "../engine/chat/ag_ui_events.ts";
import { agUiCapabilities } from "../engine/chat/ag_ui_events.ts";
import { agUiRequest, askedOf, unreadOf } from "../engine/chat/ag_ui_request.ts";
import { agUiStream, uiMessageStream } from "../engine/chat/answer_stream.ts";
import { chatRequest, type ChatRoute, parseChatRoute } from "../engine/chat/chat_request.ts";
import { createSqlChatPlatform } from "../engine/chat/sql_chat_platform.ts";
import type { Config } from "../platform/config/env.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { authenticate } from "../platform/http/authenticate.ts";
import { knownError } from "../platform/http/error_response.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { traceparentOf, tracestateOf } from "../platform/http/trace_context.ts";
import { createCpuMeter } from "../platform/isolate/cpu_meter.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createProjectAnnouncer } from "./announce_project.ts";
import type { App } from "./app.ts";
import { withHint } from "../platform/errors/with_hint.ts";

/** The end of a response is well before that of its isolate. */
const RESERVE_MS = 10_000;
const MIN_STREAM_MS = 5_000;
/** A page that lost its connection tries again sooner. */
const REPEAT_SECONDS = 60;
/** Share of the CPU limit that streams use. */
const CPU_SHARE = 0.75;

/** A page's request, and what it reaches the platform with. */
interface ChatCall {
  readonly request: Request;
  readonly platform: ChatPlatform;
  readonly limits: {
    readonly maxMs: number;
    readonly isOver: () => boolean;
    readonly describe: (error: unknown) => string;
  };
}

/** Composes `supaswarm-chat`: the protocols of chat pages over durable jobs. */
export function createChatApp(config: Config, log: Logger): App {
  const sql = openIsolatePool(config.databaseUrl, "supaswarm-chat");
  const ready = createReleaseCheck(sql, log);
  const gate = createRequestGate(config.cpu);
  const announceProject = createProjectAnnouncer(sql, config.apiKeys.url);
  const { cpu, worker: { wallClockSeconds } } = config;
  const meter = cpu === null ? null : createCpuMeter();
  const isOver = () => cpu !== null && meter !== null && meter.usedMs() > CPU_SHARE * cpu.hardMs;

  const fetch = createHttpHandler(
    { methods: ["GET", "POST", "DELETE"], log, gate, ready },
    async (request, { requestId }) => {
      const caller = await authenticate(request, config.apiKeys, ["user", "service"]);
      if (caller.kind === "agent") throw new SwarmError("AGENT_NOT_ALLOWED", "Cannot open a chat");
      const route = parseChatRoute(new URL(request.url).pathname);
      if (route === null) throw unknownRoute(request);
      await announceProject();
      const platform = createSqlChatPlatform({
        sql,
        caller,
        traceparent: traceparentOf(request),
        tracestate: tracestateOf(request),
      });
      const leftMs = wallClockSeconds * 1_000 - performance.now() - RESERVE_MS;
      const describe = (error: unknown) => {
        const { message, hint } = knownError(error, { log, requestId });
        return withHint(message, hint);
      };
      return await answerRoute(route, {
        request,
        platform,
        limits: { maxMs: Math.max(MIN_STREAM_MS, leftMs), isOver, describe },
      });
    },
  );
  return { fetch, close: () => sql.end({ timeout: 1 }) };
}

async function answerRoute(route: ChatRoute, call: ChatCall): Promise<Response> {
  const { request: { method }, platform } = call;
  if (route.kind === "answer" && method === "POST") return await answer(route.agent, call);
  if (route.kind === "ag_ui") {
    if (method === "POST") return await run(route.agent, call);
    if (method === "GET") return Response.json(agUiCapabilities(route.agent));
  }
  if (route.kind === "chat") {
    const { chatId, part } = route;
    if (method === "GET" && part === "messages") {
      const { messages, hasEarlier } = await readHistory(platform, chatId, {});
      return Response.json({ messages, has_earlier: hasEarlier });
    }
    if (method === "GET" && part === "stream") return await resume(chatId, call);
    if (method === "DELETE" && part === null) return await cancel(chatId, platform);
  }
  throw unknownRoute(call.request);
}

/** Starts, continues or forks the job of a chat, and streams the answer. */
async function answer(agent: string, { request, platform, limits }: ChatCall): Promise<Response> {
  const { id: chatId, messageId, trigger, messages, metadata, budget } = await parseBody(
    request,
    chatRequest,
  );
  const asked = await requestAnswer(
    platform,
    { chatId, trigger, messages, messageId: messageId ?? undefined },
    { agent, request: { ...metadata && { metadata }, ...budget && { budget } } },
  );
  return uiMessageStream(platform, asked, { ...limits, canReset: mayReset(request) });
}

/**
 * Streams the answer that is being written, from its beginning on; 204 if there is none. An answer
 * that has just ended is repeated for a page that lost its connection before the end.
 */
async function resume(chatId: string, { request, platform, limits }: ChatCall): Promise<Response> {
  const chat = await findChat(platform, chatId);
  if (chat === null || (chat.ended_seconds ?? 0) > REPEAT_SECONDS) {
    return new Response(null, { status: 204 });
  }
  return uiMessageStream(platform, newestAnswer(chat), { ...limits, canReset: mayReset(request) });
}

async function cancel(chatId: string, platform: ChatPlatform): Promise<Response> {
  const chat = await findChat(platform, chatId);
  if (chat === null) throw noChat(chatId);
  const count = chat.has_ended
    ? 0
    : await platform.call<number>("cancel_task", { p_master_task_id: chat.task_id }, {});
  return Response.json({ cancelled: count });
}

/** Runs an agent as AG-UI has it: a new answer, an answered interrupt, or reading on. */
async function run(agent: string, { request, platform, limits }: ChatCall): Promise<Response> {
  const body = await parseBody(request, agUiRequest);
  const { threadId, runId, state, messages, resume: resumed } = body;
  const chat = await findChat(platform, threadId, undefined, { p_with_messages: true });
  const asked = askedOf(body, chat);
  if (asked === null) throw noChat(threadId);
  const found = asked === "read" && chat !== null
    ? newestAnswer(chat)
    : asked === "read"
    ? null
    : await requestAnswer(platform, asked, { agent });
  if (found === null) throw noChat(threadId);
  const lastAsked = messages.findLastIndex(({ role }) => role === "user");
  const isResumed = (resumed ?? []).length > 0;
  const described: AgUiRun = {
    threadId,
    runId,
    state,
    messages: isResumed ? messages : messages.slice(0, lastAsked + 1),
    jobId: found.job_id,
    unread: unreadOf(body),
  };
  return agUiStream(platform, found, { ...limits, run: described });
}

/** Whether the reader understands the part `reset-step`. */
function mayReset(request: Request): boolean {
  return new URL(request.url).searchParams.get("reset_steps") === "true";
}

function noChat(chatId: string): SwarmError {
  return new SwarmError("CHAT_NOT_FOUND", `Cannot find chat ${chatId}`);
}

function unknownRoute({ method, url }: Request): SwarmError {
  return new SwarmError(
    "CHAT_NOT_FOUND",
    `Cannot answer the request: there is no ${method} ${new URL(url).pathname}`,
    {
      hint: "Send POST to supaswarm-chat/<agent> or supaswarm-chat/<agent>/ag-ui, or GET to " +
        "supaswarm-chat/<agent>/<chat id>/stream.",
    },
  );
}
