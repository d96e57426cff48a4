import type { AnswerForm, ModelMessage } from "../../models/llm/model_port.ts";
import type { ModelUse } from "./tool_server.ts";

/** A model call inside a tool. */
export interface ToolModelCall {
  /** `llm_providers.name`, as chosen by the tool's caller. @default as in `mcp_tool_models` */
  readonly provider?: string | undefined;
  /** As chosen by the tool's caller. @default the tool's, then the agent's, then the provider's */
  readonly model?: string | undefined;
  readonly system: string;
  /** Ends with a message of the user. */
  readonly messages: readonly ModelMessage[];
  /** @default the model's own */
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Requests an answer with this schema; not every provider enforces it, so check the answer. */
  readonly output?: AnswerForm;
  /** Receives text as it streams in. The call streams only if this is set. */
  readonly onDelta?: (text: string) => void;
  /** A provider failed and the next one is used: discard the streamed text. */
  readonly onFallback?: () => void;
  /** @default the rest of the tool call's own time, less what the tool needs to answer */
  readonly timeoutMs?: number;
}

/** A model's answer to a tool. */
export interface ToolModelAnswer {
  readonly text: string;
  /** `llm_providers.name` of the one that answered. */
  readonly provider: string;
  readonly model: string;
  /** Whose key was charged. */
  readonly keySource: ModelUse["keySource"];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Providers that failed before, in order. */
  readonly passedOver: readonly { readonly provider: string; readonly code: string }[];
}

/**
 * Calls a model for a tool. The job's budget and `model_policies` are checked before the call; its
 * usage is booked afterwards.
 *
 * @throws SwarmError `BUDGET_EXCEEDED`, `PRICE_UNKNOWN`, `TOOL_ARGUMENTS_INVALID` for a provider
 * that the tool does not support, `PROVIDER_NOT_FOUND`, `MODEL_KEY_MISSING`, `MODEL_POLICY_DENIED`,
 * `MODEL_TIMEOUT`, `MODEL_REFUSED`, `MODEL_OUTPUT_CUT` and the other codes of models.
 */
export type CallToolModel = (call: ToolModelCall) => Promise<ToolModelAnswer>;
