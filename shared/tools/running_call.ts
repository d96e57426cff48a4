import type { Redactor } from "../secrets/redact.ts";
import type { ToolServerPorts } from "./open_tool_server.ts";
import type { ToolCallRequest } from "./tool_port.ts";
import type { CallRecord } from "./tool_store.ts";

/** A call on its way through the gateway. */
export interface RunningCall {
  readonly request: ToolCallRequest;
  readonly ports: ToolServerPorts;
  readonly signal: AbortSignal;
  readonly executionId: string;
  readonly feedbackToken: string;
  readonly startedAtMs: number;
  /** Filled in when the tool was looked up. */
  record: CallRecord | null;
  /** Knows more once the credential is resolved. */
  redactor: Redactor;
}
