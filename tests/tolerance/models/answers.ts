import type { ModelResponse } from "../../../shared/models/llm/model_port.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { eventsOf, type SentAnswer, type Wire } from "./read_as.ts";

/** An answer that bends its API, and what has to be read of it. */
export interface AnswerCase {
  readonly name: string;
  readonly wire: Wire;
  readonly sent: SentAnswer;
  readonly kept: Partial<ModelResponse>;
  /** What is named as left out, one pattern for each. @default nothing */
  readonly said?: readonly RegExp[];
}

const STREAM = { mediaType: "text/event-stream", isStreamAsked: true };
const ADD = { name: "add", arguments: { n: 1 } };

/** The whole answer of each format with this content. */
const WHOLE = {
  chat: (message: JsonObject, more: JsonObject = {}): JsonValue => ({
    choices: [{ message: { role: "assistant", ...message }, finish_reason: "stop" }],
    ...more,
  }),
  responses: (output: JsonValue, more: JsonObject = {}): JsonValue => ({
    object: "response",
    status: "completed",
    output,
    ...more,
  }),
  anthropic: (content: JsonValue, more: JsonObject = {}): JsonValue => ({
    type: "message",
    role: "assistant",
    stop_reason: "end_turn",
    content,
    ...more,
  }),
  google: (parts: JsonValue, more: JsonObject = {}): JsonValue => ({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    ...more,
  }),
};

/** An answer with one call whose arguments are this value. */
const CALLING: Readonly<Record<Wire, (args: JsonValue) => JsonValue>> = {
  chat: (args) =>
    WHOLE.chat({ tool_calls: [{ id: "c1", function: { name: "add", arguments: args } }] }),
  responses: (args) =>
    WHOLE.responses([{ type: "function_call", call_id: "c1", name: "add", arguments: args }]),
  anthropic: (input) => WHOLE.anthropic([{ type: "tool_use", id: "c1", name: "add", input }]),
  google: (args) => WHOLE.google([{ functionCall: { name: "add", args } }]),
};

/** An answer with a text and this usage. */
const COUNTED: Readonly<Record<Wire, (usage: JsonValue) => JsonValue>> = {
  chat: (usage) => WHOLE.chat({ content: "Hi" }, { usage }),
  responses: (usage) =>
    WHOLE.responses([{ type: "message", content: [{ text: "Hi" }] }], { usage }),
  anthropic: (usage) => WHOLE.anthropic([{ type: "text", text: "Hi" }], { usage }),
  google: (usageMetadata) => WHOLE.google([{ text: "Hi" }], { usageMetadata }),
};

const COUNTS_AS_TEXT: Readonly<Record<Wire, JsonValue>> = {
  chat: { prompt_tokens: "7", completion_tokens: "2", prompt_tokens_details: null },
  responses: { input_tokens: "7", output_tokens: "2", input_tokens_details: "none" },
  anthropic: { input_tokens: "7", output_tokens: "2", server_tool_use: null },
  google: { promptTokenCount: "7", candidatesTokenCount: "2", thoughtsTokenCount: null },
};

const ENDING: Readonly<Record<Wire, (reason: JsonValue) => JsonValue>> = {
  chat: (finish_reason) => ({ choices: [{ message: { content: "Hi" }, finish_reason }] }),
  responses: (reason) =>
    WHOLE.responses([{ type: "message", content: [{ text: "Hi" }] }], {
      incomplete_details: { reason },
    }),
  anthropic: (stop_reason) => WHOLE.anthropic([{ type: "text", text: "Hi" }], { stop_reason }),
  google: (finishReason) => ({
    candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason }],
  }),
};

function eachWire(make: (wire: Wire) => Omit<AnswerCase, "wire">): AnswerCase[] {
  return (["chat", "responses", "anthropic", "google"] as const)
    .map((wire) => ({ wire, ...make(wire) }));
}

function calls(...made: readonly (typeof ADD | { name: string; arguments: JsonObject })[]) {
  return { tool_calls: made.map((call) => ({ call_id: "", ...call })) };
}

/** Arguments by how they are sent, and what they mean. */
const ARGUMENTS: readonly (readonly [string, JsonValue, JsonObject])[] = [
  ["as an object", { n: 1 }, { n: 1 }],
  ["as text", '{"n":1}', { n: 1 }],
  ["encoded twice", JSON.stringify('{"n":1}'), { n: 1 }],
  ["empty", "", {}],
  ["null", null, {}],
  ["null as text", "null", {}],
  ["an empty list", [], {}],
];

/** Shapes that every format can have. */
const COMMON: readonly AnswerCase[] = [
  ...ARGUMENTS.flatMap(([how, args, meant]) =>
    eachWire((wire) => ({
      name: `arguments ${how}`,
      sent: { body: CALLING[wire](args) },
      kept: { ...calls({ name: "add", arguments: meant }), finish_reason: "tool_calls" },
    }))
  ),
  ...eachWire((wire) => ({
    name: "arguments with U+0000, which go back to the model",
    sent: { body: CALLING[wire]({ n: "a\0" }) },
    kept: {
      tool_calls: [{
        call_id: "",
        name: "add",
        arguments: null,
        malformed: JSON.stringify({ n: "a\0" }),
        malformed_reason: "n contains the character U+0000, which cannot be stored.\n" +
          "Call the tool again without it.",
      }],
    },
  })),
  ...eachWire((wire) => ({
    name: "counts as text",
    sent: { body: COUNTED[wire](COUNTS_AS_TEXT[wire]) },
    kept: { text: "Hi", usage: { input_tokens: 7, cached_input_tokens: 0, output_tokens: 2 } },
  })),
  ...[null, "unknown", 3].flatMap((usage) =>
    eachWire((wire) => ({
      name: `usage ${usage}`,
      sent: { body: COUNTED[wire](usage) },
      kept: { text: "Hi", usage: { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 } },
    }))
  ),
  ...eachWire((wire) => ({
    name: "a reason to stop that no API lists",
    sent: { body: ENDING[wire]("WHIM") },
    kept: { text: "Hi", finish_reason: "stop" },
    said: [/the reason why it stopped: WHIM/],
  })),
  ...[null, "", {}].flatMap((reason) =>
    eachWire((wire) => ({
      name: `a reason to stop that is ${JSON.stringify(reason)}`,
      sent: { body: ENDING[wire](reason) },
      kept: { text: "Hi", finish_reason: "stop" },
    }))
  ),
  ...eachWire((wire) => ({
    name: "a document with an event's media type",
    sent: { body: COUNTED[wire](null), ...STREAM },
    kept: { text: "Hi" },
  })),
  ...eachWire((wire) => ({
    name: "a document as text, with a byte order mark",
    sent: { body: `\ufeff\n${JSON.stringify(COUNTED[wire](null))}`, mediaType: "text/plain" },
    kept: { text: "Hi" },
  })),
  ...eachWire((wire) => ({
    name: "a whole answer as the only event of a stream",
    sent: { body: `${eventsOf([COUNTED[wire](null)])}data: [DONE]`, ...STREAM },
    kept: { text: "Hi" },
  })),
  ...eachWire((wire) => ({
    name: "an empty error beside the answer",
    sent: { body: { ...COUNTED[wire](null) as JsonObject, error: { message: "" } } },
    kept: { text: "Hi" },
  })),
];

const CHAT: readonly Omit<AnswerCase, "wire">[] = [
  {
    name: "null for every absent member",
    sent: {
      body: {
        id: null,
        choices: [{
          index: null,
          finish_reason: null,
          logprobs: null,
          message: {
            content: "Hi",
            refusal: null,
            tool_calls: null,
            reasoning: null,
            reasoning_content: null,
            reasoning_details: null,
            audio: null,
          },
        }],
        usage: null,
        error: null,
      },
    },
    kept: { text: "Hi" },
  },
  {
    name: "parts: texts, thoughts, a picture and nothing",
    sent: {
      body: WHOLE.chat({
        content: [
          "One ",
          null,
          { type: "output_text", text: "two" },
          { type: "reasoning", text: "Hm." },
          { type: "image_url", image_url: { url: "data:," } },
          5,
        ],
      }),
    },
    kept: { text: "One two", reasoning: "Hm." },
    said: [/a part that is 5/, /a part of type image_url/],
  },
  {
    name: "one part instead of a list",
    sent: { body: WHOLE.chat({ content: { type: "text", text: "Hi" } }) },
    kept: { text: "Hi" },
  },
  {
    name: "pictures and sound beside the text",
    sent: { body: WHOLE.chat({ content: "Hi", images: [{ url: "x" }], audio: { data: "x" } }) },
    kept: { text: "Hi" },
    said: [/its audio/, /its images/],
  },
  {
    name: "calls without a wrapper, without a name, and that are none",
    sent: {
      body: WHOLE.chat({
        tool_calls: [
          { name: "add", arguments: { n: 1 } },
          { function: { arguments: '{"n":2}' } },
          "add",
          null,
        ],
      }),
    },
    kept: calls(ADD, { name: "unnamed", arguments: { n: 2 } }),
    said: [/a tool call that is "add"/, /the name of a tool call/],
  },
  {
    name: "ids missing, repeated and as numbers",
    sent: {
      body: WHOLE.chat({
        tool_calls: ["x", "x", null, 7].map((id) => ({
          id,
          function: { name: "add", arguments: '{"n":1}' },
        })),
      }),
    },
    kept: calls(ADD, ADD, ADD, ADD),
  },
  {
    name: "a stream with lone carriage returns, comments and a byte order mark",
    sent: {
      body: '\ufeff: hello\r\rdata:{"choices":[{"delta":{"content":"Hi"}}]}\r\r' +
        'event: chunk\rid: 7\rdata: {"choices":[{"delta":{},\r' +
        'data: "finish_reason":"stop"}]}\r\rdata: [DONE]\r',
      ...STREAM,
    },
    kept: { text: "Hi", finish_reason: "stop" },
  },
  {
    name: "events that end with one line break",
    sent: {
      body: ['{"choices":[{"delta":{"content":"H"}}]}', '{"choices":[{"delta":{"content":"i"}}]}']
        .map((json) => `data: ${json}\n`).join("") + "data: [DONE]\n",
      ...STREAM,
    },
    kept: { text: "Hi" },
  },
  {
    name: "a stream that says only that it is done",
    sent: {
      body: eventsOf([{ choices: [{ delta: { content: "Hi" } }] }]) + "data: [DONE]\n\n",
      ...STREAM,
    },
    kept: { text: "Hi", finish_reason: "stop" },
  },
  {
    name: "an event that is not JSON beside text",
    sent: {
      body: eventsOf([{ choices: [{ delta: { content: "Hi" } }] }]) +
        "data: {broken\n\ndata: ping\n\ndata: [DONE]\n\n",
      ...STREAM,
    },
    kept: { text: "Hi" },
    said: [/not JSON: \{broken/, /not JSON: ping/],
  },
  {
    name: "a list of a stream's documents",
    sent: {
      body: [{ choices: [{ delta: { content: "H" } }] }, {
        choices: [{ delta: { content: "i" } }],
      }],
      isStreamAsked: true,
    },
    kept: { text: "Hi" },
  },
  {
    name: "a stream with the whole arguments as an object",
    sent: {
      body: eventsOf([
        {
          choices: [{
            delta: { tool_calls: [{ function: { name: "add", arguments: { n: 1 } } }] },
          }],
        },
        { choices: [{ delta: null, finish_reason: "tool_calls" }] },
      ]),
      ...STREAM,
    },
    kept: calls(ADD),
  },
];

const RESPONSES: readonly Omit<AnswerCase, "wire">[] = [
  {
    name: "items: unknown ones, one that is none, and a text beside them",
    sent: {
      body: WHOLE.responses([
        null,
        "x",
        { type: "image_generation_call", result: "x" },
        { type: "reasoning", summary: ["Hm.", null, { text: null }], content: null },
        { type: "message", content: [{ type: "output_text", text: "Hi" }, { type: "audio" }] },
        { type: "message", content: "!" },
      ]),
    },
    kept: { text: "Hi!" },
    said: [/an item that is "x"/, /image_generation_call/, /a part of type audio/],
  },
  {
    name: "ids missing and repeated",
    sent: {
      body: WHOLE.responses([null, "x", "x"].map((call_id) => ({
        type: "function_call",
        call_id,
        name: "add",
        arguments: '{"n":1}',
      }))),
    },
    kept: calls(ADD, ADD, ADD),
  },
  {
    name: "a stream without places, whose end repeats its items",
    sent: {
      body: eventsOf([
        { type: "response.output_item.added", item: { id: "m", type: "message" } },
        { type: "response.output_text.delta", item_id: "m", delta: "Hi" },
        {
          type: "response.output_item.added",
          item: { id: "f", type: "function_call", name: "add", call_id: "c" },
        },
        { type: "response.function_call_arguments.delta", item_id: "f", delta: '{"n":1}' },
        {
          type: "response.completed",
          response: {
            status: "completed",
            output: [
              { id: "m", type: "message", content: [{ text: "Hi" }] },
              {
                id: "f",
                type: "function_call",
                name: "add",
                call_id: "c",
                arguments: '{"n":1}',
              },
            ],
          },
        },
      ]),
      ...STREAM,
    },
    kept: { text: "Hi", ...calls(ADD) },
  },
];

const ANTHROPIC: readonly Omit<AnswerCase, "wire">[] = [
  {
    name: "content as text",
    sent: { body: WHOLE.anthropic("Hi") },
    kept: { text: "Hi" },
  },
  {
    name: "blocks: null, unknown ones with and without a text, and unknown thoughts",
    sent: {
      body: WHOLE.anthropic([
        null,
        { type: "text", text: "One ", citations: null },
        { type: "output_text", text: "two" },
        { type: "reasoning", text: "Hm." },
        { type: "chart", data: [1] },
        { type: "thinking", thinking: "So.", signature: null },
        { type: "text", text: null },
      ]),
    },
    kept: { text: "One two", reasoning: "Hm.So." },
    said: [/a part of type chart/],
  },
  {
    name: "ids missing and repeated",
    sent: {
      body: WHOLE.anthropic([null, "x", "x"].map((id) => ({
        type: "tool_use",
        id,
        name: "add",
        input: { n: 1 },
      }))),
    },
    kept: calls(ADD, ADD, ADD),
  },
  {
    name: "a stream without places, beginnings and reason",
    sent: {
      body: eventsOf([
        { type: "message_start", message: null },
        { type: "content_block_delta", delta: { type: "text_delta", text: "H" } },
        { type: "content_block_delta", delta: { type: "text_delta", text: "i" } },
        { type: "content_block_start", content_block: { type: "tool_use", name: "add" } },
        { type: "content_block_delta", delta: { partial_json: '{"n":' } },
        { type: "content_block_delta", delta: { partial_json: "1}" } },
        { type: "message_stop" },
      ]),
      ...STREAM,
    },
    kept: { text: "Hi", ...calls(ADD) },
  },
  {
    name: "events whose type is only their name",
    sent: {
      body: 'event: content_block_start\ndata: {"index":0,"content_block":{"text":""}}\n\n' +
        'event: content_block_delta\ndata: {"index":0,"delta":{"text":"Hi"}}\n\n' +
        "event: message_stop\ndata: {}\n\n",
      ...STREAM,
    },
    kept: { text: "Hi" },
  },
];

const GOOGLE: readonly Omit<AnswerCase, "wire">[] = [
  {
    name: "parts: null, a text alone, a picture, and members that are null",
    sent: {
      body: WHOLE.google([
        null,
        "One ",
        { text: "two", thought: null, thoughtSignature: null, functionCall: null },
        { inlineData: { mimeType: "image/png", data: "x" } },
        { text: "Hm.", thought: true },
      ]),
    },
    kept: { text: "One two", reasoning: "Hm." },
    said: [/a part with inlineData/],
  },
  {
    name: "ids missing and repeated",
    sent: {
      body: WHOLE.google([null, "x", "x"].map((id) => ({
        functionCall: { id, name: "add", args: { n: 1 } },
      }))),
    },
    kept: calls(ADD, ADD, ADD),
  },
  {
    name: "a content that is null, with a reason",
    sent: { body: { candidates: [{ content: null, finishReason: "STOP" }], usageMetadata: null } },
    kept: { text: "", finish_reason: "stop" },
  },
  {
    name: "a stream whose events have names",
    sent: {
      body: `event: message\n${eventsOf([WHOLE.google([{ text: "Hi" }])])}`,
      ...STREAM,
    },
    kept: { text: "Hi" },
  },
];

/** Answers that bend their API. */
export const ANSWERS: readonly AnswerCase[] = [
  ...COMMON,
  ...CHAT.map((one) => ({ ...one, wire: "chat" as const })),
  ...RESPONSES.map((one) => ({ ...one, wire: "responses" as const })),
  ...ANTHROPIC.map((one) => ({ ...one, wire: "anthropic" as const })),
  ...GOOGLE.map((one) => ({ ...one, wire: "google" as const })),
];
