import type { Redactor } from "../../platform/secrets/redact.ts";
import type { ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { Approval } from "../tool_contracts/approval.ts";
import type { ToolDefinition } from "../tool_contracts/tool_definition.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";
import type { ModelUse, ServerAnswer } from "../tool_contracts/tool_server.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";

/**
 * The stages of a call: requested → looked up → admitted → approved → sent. From any stage it ends as an
 * {@linkcode EndedCall}, which is recorded and answered.
 */
export interface RequestedCall {
  readonly request: ToolCallRequest;
  readonly ports: ToolServerPorts;
  readonly signal: AbortSignal;
  readonly executionId: string;
  readonly feedbackToken: string;
  readonly startedAtMs: number;
  /** An older version of the tool is called; the cache has only the newest. @default false */
  readonly isOlderVersion?: boolean;
}

/** The call's data was read from the database. */
export interface LookedUpCall extends RequestedCall {
  readonly record: CallRecord;
  /** The identity that the call acts as; inside a task its owner. */
  readonly caller: ToolCaller;
}

/** The call is permitted; its arguments are those to send. */
export interface AdmittedCall extends LookedUpCall {
  readonly definition: ToolDefinition;
  /** The scopes that the call needs. */
  readonly scopes: readonly string[];
  /** A notice about dropped arguments for the caller's model; null if none. */
  readonly notice: string | null;
}

/** Nobody has to be asked before the call, as far as the gateway knows. */
export interface ApprovedCall extends AdmittedCall {
  readonly approval: Approval;
}

/** Whether another machine was called, and answered; determines its health. */
export type Contact = "none" | "answered" | "failed";

/** The server was called once or several times. */
export interface SentCall extends ApprovedCall, Sending {}

/** The outcome of sending the call. */
export interface Sending {
  readonly result: CallResult;
  /** It may have run: it was sent, and no error proves that it has not. */
  readonly isSent: boolean;
  readonly contact: Contact;
  /** Models that the tool used, in all its tries. */
  readonly modelUses: readonly ModelUse[];
  /** Values that the caller gets but that must not be stored, such as single-use tokens. */
  readonly unrecordedValues: readonly string[];
  /** Knows all secrets of the call. */
  readonly redactor: Redactor;
}

/** The server's answer, or the error that prevented it. */
export type CallResult =
  | { readonly kind: "answer"; readonly answer: ServerAnswer }
  | { readonly kind: "error"; readonly error: unknown };

/** A finished call, from any stage. */
export interface EndedCall extends RequestedCall, Sending {
  /** Null if its data was not read. */
  readonly record: CallRecord | null;
  readonly caller: ToolCaller;
}

/** The result of a stage: the next stage, or the end of the call. */
export type Staged<Next> =
  | { readonly kind: "next"; readonly call: Next }
  | { readonly kind: "ended"; readonly call: EndedCall };

/** Ends a call with an error before it was sent. */
export function endedUnsent(call: RequestedCall | LookedUpCall, error: unknown): Staged<never> {
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

/** The tool's own name, regardless of the name used in the call. */
export function toolNameOf({ record, request }: EndedCall): string {
  return record?.cached?.name ?? request.toolName;
}
