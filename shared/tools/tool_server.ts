import type { ErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { ToolCaller } from "./tool_port.ts";

/** All that a server offers now. */
export interface ToolListing {
  readonly tools: readonly ToolDefinition[];
  /** Tools left out because their definition is broken. */
  readonly dropped: readonly DroppedTool[];
}

/** A tool that cannot be offered, and why. */
export interface DroppedTool {
  readonly name: string;
  readonly reason: string;
}

/** One call as a server takes it; its arguments fit the tool's schema. */
export interface ServerCall {
  readonly definition: ToolDefinition;
  readonly arguments: JsonObject;
  readonly caller: ToolCaller;
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
}

/** The tool ran, or refused the call in a way the model can act on. */
export interface Answered {
  readonly kind: "answered";
  readonly text: string;
  readonly structured?: JsonValue;
  readonly isError: boolean;
  /** Only with `isError`; absent when the tool itself reported the error. */
  readonly errorCode?: ErrorCode;
  /** The server's tools are not the ones that were cached. */
  readonly isDefinitionStale?: boolean;
}

/** The call was sent and may have run; no answer came. */
export interface Lost {
  readonly kind: "lost";
  readonly cause: "timeout" | "connection";
  readonly message: string;
}

/** What came of a call at the server. */
export type ServerAnswer = Answered | Lost;

/**
 * A tool server of any type, opened for one caller and one piece of work.
 *
 * Both methods throw `SwarmError` for a failure after which the call has certainly not run, and
 * the signal's reason when it was aborted.
 */
export interface ToolServer {
  listTools(signal: AbortSignal): Promise<ToolListing>;
  callTool(call: ServerCall, signal: AbortSignal): Promise<ServerAnswer>;
}
