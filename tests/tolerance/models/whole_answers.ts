import type { ModelResponse } from "../../../shared/models/llm/model_port.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { Wire } from "./read_as.ts";

type Path = readonly (string | number)[];

/** An answer as its API describes it, and where its parts are. */
export interface WholeAnswer {
  readonly document: JsonObject;
  readonly parts: Readonly<Record<PartName, Path>>;
  /** Members that make the whole answer another one if they change. */
  readonly decisive: readonly Path[];
}

/** The parts that every whole answer has. */
export type PartName = "text" | "thought" | "first call" | "second call";

/** Whether an answer has each part. */
export const HAS: Readonly<Record<PartName, (answer: ModelResponse) => boolean>> = {
  text: ({ text }) => text.includes("alpha"),
  thought: ({ reasoning = "" }) => reasoning.includes("omega"),
  "first call": (answer) => hasCall(answer, "add", '{"n":1}'),
  "second call": (answer) => hasCall(answer, "list", '{"all":true}'),
};

function hasCall({ tool_calls }: ModelResponse, name: string, args: string): boolean {
  return tool_calls.some((call) => call.name === name && JSON.stringify(call.arguments) === args);
}

/** One answer in each format, with all members that matter. */
export const WHOLE_ANSWERS: Readonly<Record<Wire, WholeAnswer>> = {
  chat: {
    document: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "test-model",
      choices: [{
        index: 0,
        logprobs: null,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: "alpha",
          refusal: null,
          annotations: [],
          reasoning_content: "omega",
          reasoning_details: [{ type: "reasoning.text", text: "omega", index: 0 }],
          tool_calls: [
            { id: "c1", type: "function", function: { name: "add", arguments: '{"n":1}' } },
            { id: "c2", type: "function", function: { name: "list", arguments: '{"all":true}' } },
          ],
        },
      }],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 1 },
      },
      service_tier: "default",
    },
    parts: {
      text: ["choices", 0, "message", "content"],
      thought: ["choices", 0, "message", "reasoning_content"],
      "first call": ["choices", 0, "message", "tool_calls", 0],
      "second call": ["choices", 0, "message", "tool_calls", 1],
    },
    decisive: [["object"], ["choices", 0, "message", "refusal"]],
  },
  responses: {
    document: {
      id: "resp_1",
      object: "response",
      status: "completed",
      error: null,
      incomplete_details: null,
      output: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "omega" }] },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "alpha", annotations: [] }],
        },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "c1",
          name: "add",
          arguments: '{"n":1}',
          status: "completed",
        },
        {
          type: "function_call",
          id: "fc_2",
          call_id: "c2",
          name: "list",
          arguments: '{"all":true}',
          status: "completed",
        },
      ],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 1 },
      },
    },
    parts: {
      thought: ["output", 0],
      text: ["output", 1],
      "first call": ["output", 2],
      "second call": ["output", 3],
    },
    decisive: [["error"], ["object"]],
  },
  anthropic: {
    document: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "test-model",
      content: [
        { type: "thinking", thinking: "omega", signature: "c2ln" },
        { type: "text", text: "alpha", citations: null },
        { type: "tool_use", id: "c1", name: "add", input: { n: 1 } },
        { type: "tool_use", id: "c2", name: "list", input: { all: true } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      container: { id: "container_1", expires_at: "2026-01-01T00:00:00Z" },
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 1,
        cache_read_input_tokens: 1,
        output_tokens: 2,
        server_tool_use: { web_search_requests: 0 },
      },
    },
    parts: {
      thought: ["content", 0],
      text: ["content", 1],
      "first call": ["content", 2],
      "second call": ["content", 3],
    },
    decisive: [],
  },
  google: {
    document: {
      candidates: [{
        index: 0,
        finishReason: "STOP",
        avgLogprobs: -0.1,
        safetyRatings: [],
        content: {
          role: "model",
          parts: [
            { text: "omega", thought: true },
            { text: "alpha" },
            {
              functionCall: { id: "c1", name: "add", args: { n: 1 } },
              thoughtSignature: "c2ln",
            },
            { functionCall: { name: "list", args: { all: true } } },
          ],
        },
        groundingMetadata: {
          webSearchQueries: ["bees"],
          groundingChunks: [{ web: { uri: "https://example.com", title: "Bees" } }],
        },
      }],
      promptFeedback: { safetyRatings: [] },
      usageMetadata: {
        promptTokenCount: 3,
        cachedContentTokenCount: 1,
        candidatesTokenCount: 2,
        thoughtsTokenCount: 1,
      },
      modelVersion: "test-model",
    },
    parts: {
      thought: ["candidates", 0, "content", "parts", 0],
      text: ["candidates", 0, "content", "parts", 1],
      "first call": ["candidates", 0, "content", "parts", 2],
      "second call": ["candidates", 0, "content", "parts", 3],
    },
    decisive: [],
  },
};
