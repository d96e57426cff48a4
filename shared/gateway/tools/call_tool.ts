import type { ErrorCode } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { timeOrderedId } from "../../platform/values/time_ordered_id.ts";
import type { ToolCallOutcome, ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";
import { admitCall } from "./admit_call.ts";
import { approveCall } from "./approve_call.ts";
import type { EndedCall, RequestedCall } from "./call_stages.ts";
import { endCall } from "./end_call.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";
import { lookUpCall } from "./look_up_call.ts";
import { sendCall } from "./send_call.ts";

/** The caller does not exist, so there is no owner to record it for, or has no room in the ledger. */
const UNRECORDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "QUOTA_EXCEEDED",
  "AGENT_NOT_FOUND",
  "CALLER_REQUIRED",
  "FORBIDDEN",
  "TASK_NOT_FOUND",
]);

/** The data that was read for a call in advance. */
export interface ReadCall {
  readonly record: CallRecord;
  readonly startedAtMs: number;
}

/**
 * Runs one call in a fixed order: scope → policy → arguments → approval → credential → call, with retries
 * where they are safe → uniform errors → redact → record → learn.
 *
 * @throws SwarmError `ApprovalRequired`, `TOOL_RATE_LIMITED`, `WORK_PAUSED`, `DATABASE_UNAVAILABLE`, or one of {@linkcode UNRECORDED};
 * the reason of an aborted signal.
 */
export async function callTool(
  request: ToolCallRequest,
  ports: ToolServerPorts,
  signal: AbortSignal,
  read?: ReadCall,
): Promise<ToolCallOutcome> {
  const requested = {
    request,
    ports,
    signal,
    executionId: timeOrderedId(),
    feedbackToken: crypto.randomUUID(),
    startedAtMs: read?.startedAtMs ?? performance.now(),
  };
  const ended = await runCall(requested, read?.record);
  const { result, record } = ended;
  if (result.kind === "error") {
    if (record === null && isUnrecorded(result.error)) throw result.error;
    // Nothing was called, and the caller waits and calls again.
    if (!ended.isSent && isPaused(result.error)) throw result.error;
  }
  return await endCall(ended);
}

async function runCall(requested: RequestedCall, read?: CallRecord): Promise<EndedCall> {
  const lookedUp = await lookUpCall(requested, read);
  if (lookedUp.kind === "ended") return lookedUp.call;
  const admitted = await admitCall(lookedUp.call);
  if (admitted.kind === "ended") return admitted.call;
  const approved = approveCall(admitted.call);
  if (approved.kind === "ended") return approved.call;
  return (await sendCall(approved.call)).call;
}

function isPaused(error: unknown): boolean {
  return error instanceof SwarmError && error.code === "WORK_PAUSED";
}

function isUnrecorded(error: unknown): boolean {
  return error instanceof SwarmError && UNRECORDED.has(error.code);
}
