import type OpenAI from "openai";
import type { ModelEndpoint, ModelMessage, ModelRequest } from "./model_port.ts";

type ChatMessage = OpenAI.ChatCompletionMessageParam;
type ChatRequest = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;

/** Writes a request in the chat-completions format. */
export function toChatRequest(request: ModelRequest, endpoint: ModelEndpoint): ChatRequest {
  const { model, system, messages, tools, temperature, maxOutputTokens } = request;
  const systemMessages: ChatMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  return {
    model,
    messages: [...systemMessages, ...messages.map(toChatMessage)],
    ...(tools.length === 0 ? {} : {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters: { ...parameters } },
      })),
    }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : {
      [isOpenAiItself(endpoint) ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens,
    }),
  };
}

/**
 * OpenAI's and Azure's reasoning models refuse `max_tokens`; compatible servers often know
 * nothing else.
 */
function isOpenAiItself(endpoint: ModelEndpoint): boolean {
  if (endpoint.baseUrl === null) return true;
  const { hostname } = new URL(endpoint.baseUrl);
  return hostname === "api.openai.com" || hostname.endsWith(".openai.azure.com");
}

function toChatMessage(message: ModelMessage): ChatMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.text };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.text };
    case "assistant":
      return {
        role: "assistant",
        content: message.text,
        ...(message.toolCalls.length === 0 ? {} : {
          tool_calls: message.toolCalls.map((call) => ({
            id: call.callId,
            type: "function",
            // Servers parse these again, so a malformed text may not be sent back as it was.
            function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) },
          })),
        }),
      };
  }
}
