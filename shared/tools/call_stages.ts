import type { Redactor } from "../secrets/redact.ts";
import type { ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { ToolDefinition } from "../tool_contracts/tool_definition.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";
import type { ModelUse, ServerAnswer } from "../tool_contracts/tool_server.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";

/**
 * The stages of a call: asked → looked up → admitted → sent. Whichever it reached, it ends as an
 * {@linkcode EndedCall}, which is recorded and answered.
 */
export interface AskedCall {
  readonly request: ToolCallRequest;
  readonly ports: ToolServerPorts;
  readonly signal: AbortSignal;
  readonly executionId: string;
  readonly feedbackToken: string;
  readonly startedAtMs: number;
  /** An older version of the tool is called: the cache knows the newest alone. @default false */
  readonly isOlderVersion?: boolean;
}

/** What the database knows of the call was read. */
export interface LookedUpCall extends AskedCall {
  readonly record: CallRecord;
  /** As whom the call acts; inside a task its owner. */
  readonly caller: ToolCaller;
}

/** The call may be made; its arguments are those that are sent. */
export interface AdmittedCall extends LookedUpCall {
  readonly definition: ToolDefinition;
  /** What was left out of the arguments, in words for the caller's model; null: nothing. */
  readonly notice: string | null;
}

/** Whether another machine was asked, and answered; decides about its health. */
export type Contact = "none" | "answered" | "failed";

/** The server was asked, once or several times. */
export interface SentCall extends AdmittedCall, Sending {}

/** What sending the call came to. */
export interface Sending {
  readonly result: CallResult;
  /** It may have run: it was sent, and no error says that it certainly has not. */
  readonly isSent: boolean;
  readonly contact: Contact;
  /** Models that the tool used, in all its tries. */
  readonly modelUses: readonly ModelUse[];
  /** Values that the caller gets and that nothing stores, such as tokens for one use. */
  readonly unrecordedValues: readonly string[];
  /** Knows all secrets of the call. */
  readonly redactor: Redactor;
}

/** An answer of the server, or the error that kept one from coming. */
export type CallResult =
  | { readonly kind: "answer"; readonly answer: ServerAnswer }
  | { readonly kind: "error"; readonly error: unknown };

/** A call that is over, whichever stage it reached. */
export interface EndedCall extends AskedCall, Sending {
  /** Null when nothing was read for it. */
  readonly record: CallRecord | null;
  readonly caller: ToolCaller;
}

/** What a stage makes of a call: the next stage, or its end. */
export type Staged<Next> =
  | { readonly kind: "next"; readonly call: Next }
  | { readonly kind: "ended"; readonly call: EndedCall };

/** A call that an error ended before it was sent. */
export function endedUnsent(call: AskedCall | LookedUpCall, error: unknown): Staged<never> {
  const { record = null, caller = call.request.caller } = "record" in call ? call : {};
  return {
    kind: "ended",
    call: {
      ...call,
      record,
      caller,
      result: { kind: "error", error },
      isSent: false,
      contact: "none",
      modelUses: [],
      unrecordedValues: [],
      redactor: call.ports.redactor,
    },
  };
}

/** The tool's own name, whichever of its names was called. */
export function toolNameOf({ record, request }: EndedCall): string {
  return record?.cached?.name ?? request.toolName;
}
