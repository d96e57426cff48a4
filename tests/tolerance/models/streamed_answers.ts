import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { Wire } from "./read_as.ts";
import type { PartName } from "./whole_answers.ts";

/** The events of an answer, each with the part that it belongs to; null for one of the whole answer. */
export type StreamedAnswer = readonly (readonly [PartName | "end" | null, JsonObject])[];

function chat(delta: JsonObject, finish_reason: string | null = null): JsonObject {
  return { object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
}

function chatCall(index: number, call: JsonObject): JsonObject {
  return chat({ tool_calls: [{ index, ...call }] });
}

function google(part: JsonObject): JsonObject {
  return { candidates: [{ index: 0, content: { role: "model", parts: [part] } }] };
}

/** The answers of `whole_answers.ts` as streams. */
export const STREAMED_ANSWERS: Readonly<Record<Wire, StreamedAnswer>> = {
  chat: [
    [null, chat({ role: "assistant", content: "" })],
    ["thought", chat({ reasoning_content: "omega" })],
    ["text", chat({ content: "alpha" })],
    ["first call", chatCall(0, { id: "c1", function: { name: "add", arguments: "" } })],
    ["first call", chatCall(0, { function: { arguments: '{"n":' } })],
    ["first call", chatCall(0, { function: { arguments: "1}" } })],
    ["second call", chatCall(1, { id: "c2", function: { name: "list", arguments: "" } })],
    ["second call", chatCall(1, { function: { arguments: '{"all":true}' } })],
    ["end", chat({}, "tool_calls")],
    [null, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }],
  ],
  responses: [
    [null, { type: "response.created", response: { id: "resp_1", status: "in_progress" } }],
    ["thought", {
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "omega" }] },
    }],
    ["text", {
      type: "response.output_item.added",
      output_index: 1,
      item: { type: "message", id: "msg", content: [] },
    }],
    ["text", {
      type: "response.output_text.delta",
      output_index: 1,
      item_id: "msg",
      content_index: 0,
      delta: "alpha",
    }],
    ["first call", {
      type: "response.output_item.added",
      output_index: 2,
      item: { type: "function_call", id: "fc", call_id: "c1", name: "add", arguments: "" },
    }],
    ["first call", {
      type: "response.function_call_arguments.delta",
      output_index: 2,
      item_id: "fc",
      delta: '{"n":1}',
    }],
    ["second call", {
      type: "response.output_item.done",
      output_index: 3,
      item: {
        type: "function_call",
        id: "fd",
        call_id: "c2",
        name: "list",
        arguments: '{"all":true}',
      },
    }],
    ["end", {
      type: "response.completed",
      response: { status: "completed", usage: { input_tokens: 3, output_tokens: 2 } },
    }],
  ],
  anthropic: [
    [null, {
      type: "message_start",
      message: { id: "msg", content: [], usage: { input_tokens: 3 } },
    }],
    ["thought", {
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "", signature: "" },
    }],
    ["thought", {
      type: "content_block_delta",
      index: 0,
      delta: { type: "thinking_delta", thinking: "omega" },
    }],
    ["thought", {
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: "c2ln" },
    }],
    ["text", { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }],
    ["text", {
      type: "content_block_delta",
      index: 1,
      delta: { type: "text_delta", text: "alpha" },
    }],
    ["first call", {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "c1", name: "add", input: {} },
    }],
    ["first call", {
      type: "content_block_delta",
      index: 2,
      delta: { type: "input_json_delta", partial_json: '{"n":1}' },
    }],
    ["second call", {
      type: "content_block_start",
      index: 3,
      content_block: { type: "tool_use", id: "c2", name: "list", input: {} },
    }],
    ["second call", {
      type: "content_block_delta",
      index: 3,
      delta: { type: "input_json_delta", partial_json: '{"all":true}' },
    }],
    ["end", {
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 2 },
    }],
    [null, { type: "ping" }],
  ],
  google: [
    ["thought", google({ text: "omega", thought: true })],
    ["text", google({ text: "alpha" })],
    ["first call", google({ functionCall: { id: "c1", name: "add", args: { n: 1 } } })],
    ["second call", google({ functionCall: { name: "list", args: { all: true } } })],
    ["end", {
      candidates: [{ index: 0, finishReason: "STOP", content: { parts: [{ text: "" }] } }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
    }],
  ],
};
