import type { AnswerForm, ModelMessage } from "../llm/model_port.ts";
import type { ModelUse } from "./tool_server.ts";

/** A model call inside a tool. */
export interface ToolModelCall {
  /** `llm_providers.name`, as the tool's caller named it. @default what `mcp_tool_models` says */
  readonly provider?: string | undefined;
  /** As the tool's caller named it. @default the tool's, then the agent's, then the provider's */
  readonly model?: string | undefined;
  readonly system: string;
  /** Ends with a message of the user. */
  readonly messages: readonly ModelMessage[];
  /** @default the model's own */
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Asks for an answer of this form; not every provider enforces it, so check the answer. */
  readonly output?: AnswerForm;
  /** Receives text as it streams in. The call streams only if this is set. */
  readonly onDelta?: (text: string) => void;
  /** A provider failed and the next one is asked: what has streamed in is void. */
  readonly onFallback?: () => void;
  /** @default what is left of the tool call's own time, less what the tool needs to answer */
  readonly timeoutMs?: number;
}

/** What a model answered a tool. */
export interface ToolModelAnswer {
  readonly text: string;
  /** The answer was cut off at its greatest length. */
  readonly isCut: boolean;
  /** `llm_providers.name` of the one that answered. */
  readonly provider: string;
  readonly model: string;
  /** Whose key paid. */
  readonly keySource: ModelUse["keySource"];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Providers that were asked before and failed, in order. */
  readonly passedOver: readonly { readonly provider: string; readonly code: string }[];
}

/**
 * Calls a model for a tool. The job's budget and `model_policies` are asked before the call; what it
 * used is booked after it.
 *
 * @throws SwarmError `BUDGET_EXCEEDED`, `PRICE_UNKNOWN`, `TOOL_ARGUMENTS_INVALID` for a provider
 * that the tool does not support, `PROVIDER_NOT_FOUND`, `MODEL_KEY_MISSING`, `MODEL_POLICY_DENIED`,
 * `MODEL_TIMEOUT`, `MODEL_REFUSED` and the other codes of models.
 */
export type CallToolModel = (call: ToolModelCall) => Promise<ToolModelAnswer>;
