import type { CallRecord } from "../tool_contracts/tool_records.ts";
import { workPaused } from "../../platform/errors/work_paused.ts";
import { unknownServer } from "../tool_contracts/unknown_server.ts";
import { endedUnsent, type LookedUpCall, type RequestedCall, type Staged } from "./call_stages.ts";

/** How long a call waits for the first list of a server's tools. */
export const FIRST_LIST_WAIT_MS = 15_000;

/** Reads everything that the call needs, unless it was already read. */
export async function lookUpCall(
  call: RequestedCall,
  read?: CallRecord,
): Promise<Staged<LookedUpCall>> {
  try {
    const next = read === undefined ? await beginCall(call, true) : lookedUp(call, read);
    return { kind: "next", call: next };
  } catch (error) {
    return endedUnsent(call, error);
  }
}

/** @param isCharged Counts the call against its rate limit, which requires a cached tool. */
export async function beginCall(call: RequestedCall, isCharged: boolean): Promise<LookedUpCall> {
  const { request: { server, toolName, caller, stepSeq }, ports } = call;
  const record = await ports.store.beginCall({ server, toolName, caller, stepSeq, isCharged });
  if (record === null) throw unknownServer(server);
  return lookedUp(call, record);
}

/** @throws SwarmError WORK_PAUSED */
function lookedUp(call: RequestedCall, record: CallRecord): LookedUpCall {
  if (record.pause) throw workPaused(`call '${call.request.toolName}'`, record.pause);
  const { user_id: userId, client_id: clientId, session_id: sessionId } = record;
  // What was approved runs, whatever the caller sends.
  const args = record.approval?.approved_arguments ?? call.request.arguments;
  const request = { ...call.request, arguments: args };
  return { ...call, request, record, caller: { ...request.caller, userId, clientId, sessionId } };
}
