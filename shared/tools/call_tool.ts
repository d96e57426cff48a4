import { textBlock } from "../content_block.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { timeOrderedId } from "../time_ordered_id.ts";
import { onlyDeclared } from "../tool_schemas/only_declared.ts";
import { admitCall } from "./admit_call.ts";
import { scopesOf } from "../tool_contracts/tool_scopes.ts";
import { assertReachable } from "./assert_reachable.ts";
import { describeProblems, findArgumentProblems } from "./learning/argument_problems.ts";
import { endAnswered, endAsking, endInError, endLost } from "./end_call.ts";
import { assertApproved, findTool, type FoundTool } from "./find_definition.ts";
import { openToolServer, type ToolServerPorts } from "./kinds/open_tool_server.ts";
import { renewListing } from "./listing/renew_listing.ts";
import type { RunningCall } from "./running_call.ts";
import { sendCall } from "./send_call.ts";
import type { ToolDefinition } from "../tool_contracts/tool_definition.ts";
import type { ToolCallOutcome, ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { Answered, ServerAnswer } from "../tool_contracts/tool_server.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";
import { unknownServer } from "../tool_contracts/unknown_server.ts";

/** How long a call waits for the first list of a server's tools. */
const FIRST_LIST_WAIT_MS = 15_000;

/** The call names somebody or something that does not exist: there is nobody to write it down for. */
const UNRECORDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "AGENT_NOT_FOUND",
  "CALLER_REQUIRED",
  "FORBIDDEN",
  "TASK_NOT_FOUND",
]);

/**
 * Runs one call, in the order that holds for every call: scope → policy → arguments → credential →
 * call, with retries where they are safe → errors in one form → redact → record → learn.
 *
 * @throws SwarmError `TOOL_RATE_LIMITED`, `DATABASE_UNAVAILABLE`, or one of {@linkcode UNRECORDED};
 * the reason of an aborted signal.
 */
export async function callTool(
  request: ToolCallRequest,
  ports: ToolServerPorts,
  signal: AbortSignal,
  lookedUp?: LookedUpCall,
): Promise<ToolCallOutcome> {
  const call: RunningCall = {
    request,
    ports,
    signal,
    executionId: timeOrderedId(),
    feedbackToken: crypto.randomUUID(),
    startedAtMs: lookedUp?.startedAtMs ?? performance.now(),
    caller: request.caller,
    record: null,
    redactor: ports.redactor,
    contact: "none",
    isSent: false,
    modelUses: [],
    unrecordedValues: [],
  };
  let answer: ServerAnswer;
  try {
    answer = await answerCall(call, lookedUp?.record);
  } catch (error) {
    if (error instanceof SwarmError && call.record === null && UNRECORDED.has(error.code)) {
      throw error;
    }
    return await endInError(call, error);
  }
  switch (answer.kind) {
    case "lost":
      return await endLost(call, answer);
    case "input_required":
      return await endAsking(call, answer);
    case "answered":
      return await endAnswered(call, answer);
  }
}

/** What was read for a call before it was made. */
export interface LookedUpCall {
  readonly record: CallRecord;
  readonly startedAtMs: number;
}

async function answerCall(call: RunningCall, lookedUp?: CallRecord): Promise<ServerAnswer> {
  const { record, found } = await lookUp(call, lookedUp);
  const { definition } = found;
  assertApproved(record);
  assertArgumentsFit(call, definition);
  const notice = leaveOutUndeclared(call, definition);
  await assertReachable(record, call.ports);
  const { caller, ports } = call;
  const options = {
    userId: caller.userId,
    caller,
    timeoutMs: record.timeout_ms,
    secrets: record.secrets,
  };
  const opened = await openToolServer(record, options, ports);
  call.redactor = opened.redactor();
  const answer = await sendCall(call, opened, definition)
    .finally(() => call.redactor = opened.redactor());
  const isStale = answer.kind === "answered" && answer.isDefinitionStale === true;
  return withNotice(isStale ? await withNewDefinition(call, record, answer) : answer, notice);
}

interface AdmittedCall {
  readonly record: CallRecord;
  readonly found: FoundTool;
}

/** Reads all that the call needs and lets it pass, listing the tools first where there is no list. */
async function lookUp(call: RunningCall, lookedUp?: CallRecord): Promise<AdmittedCall> {
  const { request: { toolName, server }, ports, signal } = call;
  let record = lookedUp === undefined ? await load(call, true) : remember(call, lookedUp);
  // Of a server that never listed its tools nothing can be refused but the server itself.
  if (record.tools_listed_at === null && record.tool.type !== "internal") {
    admitCall(record, toolName, scopesOf(record.tool, []));
    const wait = { waitMs: FIRST_LIST_WAIT_MS, signal };
    const renewal = await renewListing(record, call.caller.userId, ports, wait);
    if (renewal.kind === "failed") throw renewal.error;
    record = await load(call, record.cached === null);
  }
  const found = await findTool(record, toolName, ports);
  admitCall(record, toolName, scopesOf(record.tool, found.scopes));
  if (!found.isCacheOutdated) return { record, found };
  // The code was deployed anew: what is learned needs its row.
  const wait = { waitMs: FIRST_LIST_WAIT_MS, signal };
  const renewal = await renewListing(record, call.caller.userId, ports, wait);
  if (renewal.kind === "failed") {
    ports.log("warn", "tool.cache_outdated", { server, code: renewal.error.code });
  }
  return { record: await load(call, record.cached === null), found };
}

/** @param isCharged Takes the call out of its rate limit, which needs a tool that is cached. */
async function load(call: RunningCall, isCharged: boolean): Promise<CallRecord> {
  const { request: { server, toolName }, ports } = call;
  const key = { server, toolName, caller: call.request.caller, isCharged };
  const record = await ports.store.loadCall(key);
  if (record === null) throw unknownServer(server);
  return remember(call, record);
}

function remember(call: RunningCall, record: CallRecord): CallRecord {
  call.record = record;
  call.caller = { ...call.caller, userId: record.user_id, clientId: record.client_id };
  return record;
}

/** What is not certain to fit is refused: it is not for the server to find out. */
function assertArgumentsFit({ request }: RunningCall, definition: ToolDefinition): void {
  const problems = findArgumentProblems(definition.inputSchema, request.arguments);
  if (problems.length > 0) throw unfitArguments(definition, describeProblems(problems));
}

/** Takes out of the call what the tool does not declare, and tells what that was; null: nothing. */
function leaveOutUndeclared(call: RunningCall, definition: ToolDefinition): string | null {
  try {
    const { arguments: declared, dropped, droppedCount } = onlyDeclared(
      call.request.arguments,
      definition.inputSchema,
    );
    if (droppedCount === 0) return null;
    call.request = { ...call.request, arguments: declared };
    const others = droppedCount - dropped.length;
    const named = [...dropped, ...(others === 0 ? [] : [`${others} more`])].join(", ");
    return `(not sent, because '${definition.name}' does not declare it: ${named})`;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw unfitArguments(definition, `$: the arguments cannot be checked: ${error.message}`);
  }
}

function unfitArguments({ name }: ToolDefinition, problems: string): SwarmError {
  return new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    `Cannot call '${name}': its arguments do not fit its schema\n${problems}`,
  );
}

function withNotice(answer: ServerAnswer, notice: string | null): ServerAnswer {
  if (notice === null || answer.kind !== "answered") return answer;
  const { text, content = [textBlock(text)] } = answer;
  return { ...answer, text: `${text}\n\n${notice}`, content: [...content, textBlock(notice)] };
}

/** A server said that it knows no such tool or argument: its tools are listed anew. */
async function withNewDefinition(
  call: RunningCall,
  old: CallRecord,
  answer: Answered,
): Promise<Answered> {
  const { request: { server, toolName, caller }, ports, signal, redactor } = call;
  try {
    const wait = { waitMs: FIRST_LIST_WAIT_MS, signal };
    await renewListing(old, call.caller.userId, ports, wait);
    const key = { server, toolName, caller, isCharged: false };
    const renewed = await ports.store.loadCall(key);
    return { ...answer, text: answer.text + noticeOf(old, renewed) };
  } catch (error) {
    signal.throwIfAborted();
    const reason = redactor.text(String(error));
    ports.log("warn", "tool.listing_failed", { server, error: reason });
    return answer;
  }
}

function noticeOf(old: CallRecord, renewed: CallRecord | null): string {
  if (renewed === null) return "";
  if (renewed.cached === null) {
    return `\n\nThe server now has these tools: ${renewed.tool_names.join(", ")}`;
  }
  if (renewed.cached.state !== "approved") {
    return "\n\nThe server has changed the tool, and nobody has approved that yet: " +
      "use another one.";
  }
  const now = JSON.stringify(renewed.cached.schema.inputSchema);
  const isSame = now === JSON.stringify(old.cached?.schema.inputSchema);
  return isSame ? "" : `\n\nThe tool has changed. Its arguments now: ${now}`;
}
