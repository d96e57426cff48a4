import { SwarmError } from "../errors/swarm_error.ts";
import { createRedactor } from "../secrets/redact.ts";
import { describeProblems, findArgumentProblems } from "./argument_problems.ts";
import { endAnswered, endInError, endLost } from "./end_call.ts";
import { nearestNames } from "../nearest_names.ts";
import { type OpenedServer, openToolServer, type ToolServerPorts } from "./open_tool_server.ts";
import { refreshTools } from "./refresh_tools.ts";
import type { RunningCall } from "./running_call.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { ToolCallOutcome, ToolCallRequest } from "./tool_port.ts";
import type { Answered, ServerAnswer } from "./tool_server.ts";
import type { CallRecord } from "./tool_store.ts";

/**
 * Runs one call: looks the tool up, checks that the caller may use it and that the arguments fit,
 * resolves the credential, calls, redacts, records and learns.
 *
 * @throws SwarmError `TOOL_RATE_LIMITED` or `DATABASE_UNAVAILABLE`; the reason of an aborted signal.
 */
export async function callTool(
  request: ToolCallRequest,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<ToolCallOutcome> {
  const call: RunningCall = {
    request,
    ports,
    signal,
    executionId: crypto.randomUUID(),
    feedbackToken: crypto.randomUUID(),
    startedAtMs: performance.now(),
    record: null,
    redactor: createRedactor([ports.secretKey]),
  };
  let answer: ServerAnswer;
  try {
    answer = await answerCall(call);
  } catch (error) {
    return await endInError(call, error);
  }
  return answer.kind === "lost" ? await endLost(call, answer) : await endAnswered(call, answer);
}

async function answerCall(call: RunningCall): Promise<ServerAnswer> {
  const { request, ports } = call;
  const record = await lookUp(call);
  const definition = definitionOf(record, request.tool.toolName);
  assertArgumentsFit(call, definition);
  const options = { userId: request.caller.userId, timeoutMs: record.timeout_ms };
  const opened = await openToolServer(record, options, ports);
  call.redactor = createRedactor(opened.secrets);
  const answer = await send(call, opened, definition);
  const isStale = answer.kind === "answered" && answer.isDefinitionStale === true;
  return isStale ? await withNewDefinition(call, record, answer) : answer;
}

async function lookUp(call: RunningCall): Promise<CallRecord> {
  const { request: { tool, caller }, ports, signal } = call;
  const key = {
    toolId: tool.toolId,
    toolName: tool.toolName,
    agentId: caller.agentId,
    userId: caller.userId,
  };
  call.record = await ports.store.loadCall(key);
  if (call.record?.is_allowed === true && call.record.tool_names.length === 0) {
    await refreshTools(call.record, caller.userId, ports, signal);
    call.record = await ports.store.loadCall(key);
  }
  const { record } = call;
  if (record === null) {
    throw new SwarmError("TOOL_NOT_FOUND", `There is no active tool server '${tool.server}'`, {
      hint: "Use another tool.",
    });
  }
  if (!record.is_allowed) {
    throw new SwarmError(
      "TOOL_FORBIDDEN",
      `'${tool.toolName}' of '${tool.server}' may not be used here`,
      { hint: "Use another tool, or ask for it to be allowed in agent_tools or mcp_policies." },
    );
  }
  return record;
}

function definitionOf(record: CallRecord, toolName: string): ToolDefinition {
  if (record.cached !== null) return record.cached.schema;
  const nearest = nearestNames(toolName, record.tool_names);
  const known = nearest.length > 0 ? nearest : record.tool_names.slice(0, 20);
  throw new SwarmError(
    "TOOL_NOT_FOUND",
    `The tool server '${record.tool.slug}' has no tool '${toolName}'`,
    { hint: known.length === 0 ? "It has none." : `It has: ${known.join(", ")}.` },
  );
}

function assertArgumentsFit({ request, ports }: RunningCall, definition: ToolDefinition): void {
  let problems;
  try {
    problems = findArgumentProblems(definition.inputSchema, request.arguments);
  } catch {
    // A schema that our validator cannot use, such as a foreign regular expression, is for the
    // server itself to apply.
    ports.log("warn", "tool.schema_unusable", { tool: definition.name });
    return;
  }
  if (problems.length === 0) return;
  throw new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    `Cannot call '${definition.name}': its arguments do not fit its schema\n` +
      describeProblems(problems),
  );
}

/** Past this point the call may run, so an error that nobody foresaw counts as a lost answer. */
async function send(
  { request, ports, signal, redactor }: RunningCall,
  { server }: OpenedServer,
  definition: ToolDefinition,
): Promise<ServerAnswer> {
  const { caller, idempotencyKey, traceparent } = request;
  try {
    return await server.callTool(
      { definition, arguments: request.arguments, caller, idempotencyKey, traceparent },
      signal,
    );
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    const reason = redactor.text(String(error));
    ports.log("error", "tool.unexpected_error", { tool: definition.name, error: reason });
    const message = `The call of '${definition.name}' broke off`;
    return { kind: "lost", cause: "connection", message };
  }
}

/** A server said that it knows no such tool or argument: its tools are listed anew. */
async function withNewDefinition(
  call: RunningCall,
  old: CallRecord,
  answer: Answered,
): Promise<Answered> {
  const { request: { tool, caller }, ports, signal, redactor } = call;
  try {
    await refreshTools(old, caller.userId, ports, signal);
    const { toolId, toolName } = tool;
    const renewed = await ports.store.loadCall({ toolId, toolName, ...caller });
    const schema = renewed?.cached?.schema.inputSchema;
    if (schema === undefined || renewed === null) {
      const names = renewed?.tool_names.join(", ") ?? "";
      return { ...answer, text: `${answer.text}\n\nThe server now has these tools: ${names}` };
    }
    const now = JSON.stringify(schema);
    if (now === JSON.stringify(old.cached?.schema.inputSchema)) return answer;
    return { ...answer, text: `${answer.text}\n\nThe tool has changed. Its arguments now: ${now}` };
  } catch (error) {
    signal.throwIfAborted();
    const reason = redactor.text(String(error));
    ports.log("warn", "tool.listing_failed", { server: old.tool.slug, error: reason });
    return answer;
  }
}
