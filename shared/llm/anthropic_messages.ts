import { z } from "../vendor/zod.js";
import { definedOnly } from "../defined_only.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { FunctionDefinition } from "../tool_schemas/function_definition.ts";
import { toAnthropicTool } from "../tool_schemas/wire_function.ts";
import type { Anthropic } from "../vendor/anthropic.js";
import type { ModelMessage, ModelRequest } from "./model_port.ts";
import type { OfferedFunctions } from "./offered_functions.ts";

type Block = Anthropic.ContentBlockParam;
type Message = { readonly role: "user" | "assistant"; readonly content: Block[] };
type MessagesRequest = Omit<Anthropic.MessageCreateParamsNonStreaming, "stream">;

/** The API demands a limit; every current model can write as much as this. */
const DEFAULT_MAX_TOKENS = 8_192;

/** A block of an answer as it goes back into the conversation. */
export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
    readonly type: "tool_use";
    readonly id: string;
    readonly name: string;
    readonly input: JsonObject;
  };

const providerDataSchema = z.object({
  api: z.literal("anthropic"),
  content: z.array(z.custom<AnswerBlock>((block) => typeof block === "object" && block !== null)),
});

/**
 * Keeps an answer's blocks for the next request when it contains thinking, which the API wants
 * back unchanged and in its place; undefined otherwise.
 */
export function toProviderData(content: readonly AnswerBlock[]): JsonValue | undefined {
  const isThinking = (block: AnswerBlock) => block.type.endsWith("thinking");
  return content.some(isThinking)
    ? { api: "anthropic", content: content.map((block) => ({ ...block })) }
    : undefined;
}

/** Writes a request in the messages format. */
export function toMessagesRequest(
  request: ModelRequest,
  functions: OfferedFunctions,
  output: FunctionDefinition | null,
): MessagesRequest {
  const { model, system, messages, temperature, maxOutputTokens } = request;
  const tools = functions.definitions.map(toAnthropicTool);
  return {
    model,
    max_tokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS,
    messages: mergeTurns(messages, functions),
    ...(system === "" ? {} : { system }),
    ...(tools.length === 0 ? {} : {
      tools: tools.map(({ input_schema, ...named }) => ({
        ...named,
        input_schema: { ...input_schema, type: "object" },
      })),
    }),
    ...(output === null
      ? {}
      : { output_config: { format: { type: "json_schema", schema: output.parameters } } }),
    ...definedOnly({ temperature }),
  };
}

/** Roles must alternate, and all results of a turn's tool calls must stand in one user message. */
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

/** Empty text blocks are refused by the API, so an empty message has no blocks at all. */
function toBlocks(message: ModelMessage, functions: OfferedFunctions): Block[] {
  switch (message.role) {
    case "user":
      return toTextBlocks(message.text);
    case "tool":
      return [{
        type: "tool_result",
        tool_use_id: toLegalId(message.call_id),
        content: toTextBlocks(message.text),
        is_error: message.is_error,
      }];
    case "assistant": {
      const kept = providerDataSchema.safeParse(message.provider_data);
      if (kept.success) return kept.data.content;
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

function toTextBlocks(text: string): { type: "text"; text: string }[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** Ids of a conversation begun with another provider may hold signs that this one refuses. */
function toLegalId(callId: string): string {
  return callId.replace(/[^a-zA-Z0-9_-]/g, "_");
}
