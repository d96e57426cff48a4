import { definedOnly } from "../../platform/values/defined_only.ts";
import type { FunctionDefinition } from "../tool_schemas/function_definition.ts";
import { toOpenAiFunction } from "../tool_schemas/wire_function.ts";
import type { OpenAI } from "../../vendor/openai.js";
import { type FilePart, filePartsOf, resultPartsOf, toDataUrl } from "./file_parts.ts";
import type { ModelEndpoint, ModelMessage, ModelRequest } from "./model_port.ts";
import type { OfferedFunctions } from "./offered_functions.ts";
import { withKeptReasoning } from "./openai_reasoning.ts";

type ChatMessage = OpenAI.ChatCompletionMessageParam;
type ChatRequest = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;

/** The inputs of a request. */
export interface ChatRequestParts {
  readonly functions: OfferedFunctions;
  /** The schema of the answer; null for none. */
  readonly output: FunctionDefinition | null;
  readonly endpoint: ModelEndpoint;
}

/** Writes a request in the chat-completions format. */
export function toChatRequest(
  request: ModelRequest,
  { functions, output, endpoint }: ChatRequestParts,
): ChatRequest {
  const { model, system, messages, temperature, maxOutputTokens } = request;
  const tools = functions.definitions.map((definition) => {
    const { type, function: { strict, parameters, ...named } } = toOpenAiFunction(definition);
    // Servers without strict mode may reject the property.
    const mode = request.hasBasicTools === true ? {} : { strict };
    return { type, function: { ...named, parameters: { ...parameters }, ...mode } };
  });
  const systemMessages: ChatMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  return {
    model,
    messages: [
      ...systemMessages,
      ...toChatMessages(messages, functions),
    ],
    ...(tools.length === 0 ? {} : { tools }),
    ...(request.cacheKey === undefined || !isOpenAiItself(endpoint)
      ? {}
      : { prompt_cache_key: request.cacheKey }),
    ...(output === null ? {} : {
      response_format: {
        type: "json_schema",
        json_schema: { name: output.name, schema: output.parameters, strict: true },
      },
    }),
    ...definedOnly({
      temperature,
      reasoning_effort: request.reasoningEffort,
      [isOpenAiItself(endpoint) ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens,
    }),
  };
}

/**
 * OpenAI's and Azure's reasoning models reject `max_tokens`; compatible servers often support only
 * that.
 */
export function isOpenAiItself(endpoint: ModelEndpoint): boolean {
  if (endpoint.baseUrl === null) return true;
  const { hostname } = new URL(endpoint.baseUrl);
  return hostname === "api.openai.com" || hostname.endsWith(".openai.azure.com");
}

/** Media types that both formats of the API accept. */
export const OPENAI_FILES: readonly string[] = [
  ...["image/png", "image/jpeg", "image/gif", "image/webp"],
  "application/pdf",
];

function toFilePart(file: FilePart): OpenAI.ChatCompletionContentPart {
  const url = toDataUrl(file);
  return file.mediaType === "application/pdf"
    ? { type: "file", file: { filename: file.name, file_data: url } }
    : { type: "image_url", image_url: { url } };
}

/**
 * Writes the conversation. The format accepts only text as the result of a call, so the files of a
 * turn's results follow in a user message.
 */
function toChatMessages(
  messages: readonly ModelMessage[],
  functions: OfferedFunctions,
): ChatMessage[] {
  const written: ChatMessage[] = [];
  let shown: readonly FilePart[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool") {
      written.push(toChatMessage(message, functions));
      continue;
    }
    const { text, files } = resultPartsOf(message, OPENAI_FILES);
    written.push({ role: "tool", tool_call_id: message.call_id, content: text });
    shown = [...shown, ...files];
    if (shown.length > 0 && messages[index + 1]?.role !== "tool") {
      written.push({ role: "user", content: shown.flatMap(toShownFile) });
      shown = [];
    }
  }
  return written;
}

function toShownFile(file: FilePart): OpenAI.ChatCompletionContentPart[] {
  return [
    { type: "text", text: `${file.name}, from a tool result above:` },
    toFilePart(file),
  ];
}

type SpokenMessage = Exclude<ModelMessage, { role: "tool" }>;

function toChatMessage(message: SpokenMessage, functions: OfferedFunctions): ChatMessage {
  switch (message.role) {
    case "user": {
      const files = filePartsOf(message, OPENAI_FILES);
      if (files.length === 0) return { role: "user", content: message.text };
      const text = { type: "text" as const, text: message.text };
      return { role: "user", content: [...files.map(toFilePart), text] };
    }
    case "assistant":
      return {
        role: "assistant",
        ...withKeptReasoning(message.text, message.provider_data),
        ...(message.tool_calls.length === 0 ? {} : {
          tool_calls: message.tool_calls.map((made) => functions.toProvided(made)).map((call) => ({
            id: call.call_id,
            type: "function",
            // Servers parse these again, so a malformed text must not be sent back unchanged.
            function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) },
          })),
        }),
      };
  }
}
