import type { ErrorCode } from "../../platform/errors/codes.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { DataFlow } from "./data_flow.ts";

/** Arguments of a tool that worked before. */
export interface KnownGoodParameters {
  /** The newest set; with `isShape` its keys, types, formats and enum values only. */
  readonly parameters: JsonObject;
  readonly isShape: boolean;
  readonly successCount: number;
}

/** A tool as an agent sees it, ready to be offered to a model. */
export interface AgentTool {
  /** Legal for every provider and unique within the agent; mapped back by the gateway. */
  readonly modelName: string;
  /** `tools.id` of the registry row (a server, an HTTP API, an RPC). */
  readonly toolId: string;
  /** `tools.slug`. */
  readonly server: string;
  /** The name as its server calls it. */
  readonly toolName: string;
  readonly description: string;
  /** As its server gives it; models get it in their provider's form. */
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  /** The tool's data flows; see `data_flow.ts`. */
  readonly dataFlows: readonly DataFlow[];
  /** Host it sends data to; null if nothing leaves the project. */
  readonly destination: string | null;
  /** Successful calls of the user, or of everyone if the user has none. @default 0 */
  readonly successCount?: number;
  /** Absent before the first success; `description` already includes its shape. */
  readonly knownGood?: KnownGoodParameters;
}

/** A registry row that could not be offered, with the reason; the agent works without it. */
export interface UnavailableTool {
  readonly server: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What an agent may use now. */
export interface AgentToolset {
  readonly tools: readonly AgentTool[];
  readonly unavailable: readonly UnavailableTool[];
}
