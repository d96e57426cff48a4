import type { Redactor } from "../secrets/redact.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { ModelUse } from "../tool_contracts/tool_server.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";

/** A call on its way through the gateway. */
export interface RunningCall {
  /** Its arguments are those that are sent, once they are checked. */
  request: ToolCallRequest;
  readonly ports: ToolServerPorts;
  readonly signal: AbortSignal;
  readonly executionId: string;
  readonly feedbackToken: string;
  readonly startedAtMs: number;
  /** As whom the call acts; inside a task its owner and the job's client, once they are read. */
  caller: ToolCaller;
  /** Filled in when the tool was looked up. */
  record: CallRecord | null;
  /** Knows more once the credential is resolved. */
  redactor: Redactor;
  /** Whether somebody else's server was asked, and answered; decides about its health. */
  contact: "none" | "answered" | "failed";
  /** It may have run: it was sent, and no error says that it certainly has not. */
  isSent: boolean;
  /** Models that the tool used, in all its tries. */
  readonly modelUses: ModelUse[];
  /** Values that the caller gets and that nothing stores, such as tokens for one use. */
  readonly unrecordedValues: string[];
}

/** The tool's own name, whichever of its names was called. */
export function toolNameOf({ record, request }: RunningCall): string {
  return record?.cached?.name ?? request.toolName;
}
