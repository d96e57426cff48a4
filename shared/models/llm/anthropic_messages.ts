import { z } from "../../vendor/zod.js";
import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { FunctionDefinition } from "../tool_schemas/function_definition.ts";
import { toAnthropicTool } from "../tool_schemas/wire_function.ts";
import type { Anthropic } from "../../vendor/anthropic.js";
import { type FilePart, filePartsOf, resultPartsOf } from "./file_parts.ts";
import type { ModelMessage, ModelRequest } from "./model_port.ts";
import type { OfferedFunctions } from "./offered_functions.ts";

type Block = Anthropic.ContentBlockParam;
type Message = { readonly role: "user" | "assistant"; readonly content: Block[] };
type MessagesRequest = Omit<Anthropic.MessageCreateParamsNonStreaming, "stream">;

/**
 * The API requires a limit; every current model can write this many tokens. Thinking counts toward
 * it, and current models think unless the request forbids it.
 */
const DEFAULT_MAX_TOKENS = 32_000;

/** A block of an answer as it goes back into the conversation. */
export type AnswerBlock =
  | { readonly type: "text"; readonly text: string; readonly citations?: readonly JsonValue[] }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | {
    readonly type: "tool_use";
    readonly id: string;
    readonly name: string;
    readonly input: JsonObject;
  }
  /** The input or the result of a provider's tool, or another block that is sent back unchanged. */
  | { readonly type: "provider"; readonly block: JsonObject };

const providerDataSchema = z.object({
  api: z.literal("anthropic"),
  content: z.array(z.custom<Block>((block) => typeof block === "object" && block !== null)),
});

/**
 * Keeps an answer's blocks for the next request if they include thinking or the provider's own
 * tools, which the API requires unchanged and in order; undefined otherwise.
 */
export function toAnthropicData(content: readonly AnswerBlock[]): JsonValue | undefined {
  const isKept = (block: AnswerBlock) => block.type !== "text" && block.type !== "tool_use";
  return content.some(isKept) ? { api: "anthropic", content: content.map(toWireBlock) } : undefined;
}

/** The block as the API wrote it. */
export function toWireBlock(block: AnswerBlock): JsonObject {
  return block.type === "provider" ? block.block : { ...block };
}

/** Writes a request in the messages format. */
export function toMessagesRequest(
  request: ModelRequest,
  functions: OfferedFunctions,
  output: FunctionDefinition | null,
): MessagesRequest {
  const { model, system, messages, temperature } = request;
  const functionTools = functions.definitions.map(toAnthropicTool).map((
    { input_schema, ...named },
  ) => ({ ...named, input_schema: { ...input_schema, type: "object" as const } }));
  const tools = [
    ...functionTools,
    ...(request.providerTools ?? []).map((tool) => PROVIDER_TOOLS[tool]),
  ];
  const { thinking, effort } = toThinking(request);
  const format = output === null
    ? undefined
    : { type: "json_schema" as const, schema: output.parameters };
  return {
    model,
    max_tokens: maxTokensOf(request),
    messages: request.isUncached === true
      ? mergeTurns(messages, functions)
      : withBreakpoints(mergeTurns(messages, functions)),
    ...(system === "" ? {} : { system: toSystem(request) }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(format === undefined && effort === undefined
      ? {}
      : { output_config: definedOnly({ format, effort }) }),
    ...definedOnly({ temperature, thinking }),
  };
}

const PROVIDER_TOOLS = {
  web_search: { type: "web_search_20250305", name: "web_search" },
  code_execution: { type: "code_execution_20250825", name: "code_execution" },
} as const;

const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
} as const;

/** For models without an effort setting. */
const BUDGETS = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 20_480,
  xhigh: 25_600,
  max: 25_600,
} as const;
/** The API's minimum. */
const MIN_BUDGET = 1_024;

function maxTokensOf(request: ModelRequest): number {
  return request.maxOutputTokens ?? DEFAULT_MAX_TOKENS;
}

type Thinking = Pick<MessagesRequest, "thinking"> & Pick<Anthropic.OutputConfig, "effort">;

function toThinking(request: ModelRequest): Thinking {
  const { reasoningEffort, hasReasoningBudget } = request;
  if (reasoningEffort === undefined) return {};
  if (reasoningEffort === "none") return { thinking: { type: "disabled" } };
  if (hasReasoningBudget !== true) {
    const thinking = { type: "adaptive", display: "summarized" } as const;
    return { thinking, effort: EFFORTS[reasoningEffort] };
  }
  // The budget is a part of the limit; a fifth is left for the answer.
  const budget = Math.min(BUDGETS[reasoningEffort], Math.floor(maxTokensOf(request) * 0.8));
  return budget < MIN_BUDGET ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

const CACHED = { cache_control: { type: "ephemeral" } } as const;

/** Tools come before the system prompt in the API's cache, so one breakpoint covers both. */
function toSystem({ system, isUncached }: ModelRequest): string | Anthropic.TextBlockParam[] {
  return isUncached === true ? system : [{ type: "text", text: system, ...CACHED }];
}

/**
 * Marks the end of the conversation, which the next request starts with, and the end of the
 * previous request's conversation, where its mark was.
 */
function withBreakpoints(turns: readonly Message[]): Message[] {
  const ends = turns.flatMap(({ role }, index) => role === "user" ? [index] : []).slice(-2);
  return turns.map((turn, index) =>
    ends.includes(index) ? { ...turn, content: turn.content.map(markLast) } : turn
  );
}

function markLast(block: Block, index: number, content: readonly Block[]): Block {
  const canBeMarked = block.type === "text" || block.type === "tool_result";
  return canBeMarked && index === content.length - 1 ? { ...block, ...CACHED } : block;
}

/** Roles must alternate, and all results of a turn's tool calls must be in one user message. */
function mergeTurns(messages: readonly ModelMessage[], functions: OfferedFunctions): Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message, functions);
    const last = turns.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

/** The API rejects empty text blocks, so an empty message has no blocks. */
function toBlocks(message: ModelMessage, functions: OfferedFunctions): Block[] {
  switch (message.role) {
    case "user":
      // The API recommends placing files before the text that refers to them.
      return [...filePartsOf(message, TAKEN_FILES).map(toFileBlock), ...toTextBlocks(message.text)];
    case "tool": {
      const { text, files } = resultPartsOf(message, TAKEN_FILES);
      return [{
        type: "tool_result",
        tool_use_id: toLegalId(message.call_id),
        content: [...toTextBlocks(text), ...files.map(toFileBlock)],
        is_error: message.is_error,
      }];
    }
    case "assistant": {
      const kept = providerDataSchema.safeParse(message.provider_data);
      if (kept.success) return kept.data.content.map(withLegalId);
      return [
        ...toTextBlocks(message.text),
        ...message.tool_calls.map((made) => functions.toProvided(made)).map((call): Block => ({
          type: "tool_use",
          id: toLegalId(call.call_id),
          name: call.name,
          input: call.arguments ?? {},
        })),
      ];
    }
  }
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
const PDF = "application/pdf";
const TAKEN_FILES: readonly string[] = [...IMAGES, PDF];

function toFileBlock(
  { name, mediaType, base64: data }: FilePart,
): Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam {
  const image = IMAGES.find((type) => type === mediaType);
  return image === undefined
    ? { type: "document", title: name, source: { type: "base64", media_type: PDF, data } }
    : { type: "image", source: { type: "base64", media_type: image, data } };
}

function toTextBlocks(text: string): { type: "text"; text: string }[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** A compatible server may write ids that it does not accept, and the results have legal ones. */
function withLegalId(block: Block): Block {
  return block.type === "tool_use" ? { ...block, id: toLegalId(block.id) } : block;
}

/** Ids from another provider may contain characters that this one rejects. */
function toLegalId(callId: string): string {
  return callId.replace(/[^a-zA-Z0-9_-]/g, "_");
}
