import type { ModelApi } from "../../../shared/models/llm/model_port.ts";

/** An answer that can be written in any wire format. */
export interface WireAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly argumentsText: string }[];
  readonly stop?: "stop" | "length" | "refused";
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
}

/** The wire format of a provider's API, written from its documentation. */
export interface WireFormat {
  readonly api: ModelApi;
  /** A provider's base URL for a server at this origin. */
  baseUrl(origin: string): string;
  /** The header that contains the key. */
  readonly keyHeader: string;
  /** The body of a non-streamed answer. */
  whole(answer: WireAnswer): unknown;
  /** The server-sent events of a streamed answer; the last ones mark it as complete. */
  events(answer: WireAnswer): string[];
  /** The event, or body, with which the provider reports that it is overloaded. */
  readonly overloaded: string;
}

const NO_USAGE = { input: 0, cached: 0, output: 0 };

const openai: WireFormat = {
  api: "openai",
  baseUrl: (origin) => `${origin}/v1`,
  keyHeader: "authorization",
  whole: ({ text = "", calls = [], stop = "stop", usage = NO_USAGE }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [{
      index: 0,
      finish_reason: openAiStop(stop, calls.length),
      message: {
        role: "assistant",
        content: stop === "refused" ? null : text,
        refusal: stop === "refused" ? text : null,
        ...(calls.length > 0 ? { tool_calls: calls.map(toOpenAiCall) } : {}),
      },
    }],
    usage: toOpenAiUsage(usage),
  }),
  events: ({ text = "", calls = [], stop = "stop", usage = NO_USAGE }) => {
    const chunk = (delta: unknown, finish_reason: string | null = null) =>
      data({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
    const finish = openAiStop(stop, calls.length);
    return [
      ...halves(text).map((half) =>
        chunk(stop === "refused" ? { refusal: half } : { content: half })
      ),
      ...calls.flatMap((call, index) => [
        chunk({ tool_calls: [{ ...toOpenAiCall({ ...call, argumentsText: "" }, index), index }] }),
        ...halves(call.argumentsText).map((half) =>
          chunk({ tool_calls: [{ index, function: { arguments: half } }] })
        ),
      ]),
      chunk({}, finish),
      data({ object: "chat.completion.chunk", choices: [], usage: toOpenAiUsage(usage) }),
      "data: [DONE]\n\n",
    ];
  },
  overloaded: data({ error: { message: "Overloaded", type: "server_error", code: 503 } }),
};

const anthropic: WireFormat = {
  api: "anthropic",
  baseUrl: (origin) => origin,
  keyHeader: "x-api-key",
  whole: ({ text = "", calls = [], stop = "stop", usage = NO_USAGE }) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ name, argumentsText }, index) => ({
        type: "tool_use",
        id: `toolu_${index}`,
        name,
        input: JSON.parse(argumentsText),
      })),
    ],
    stop_reason: anthropicStop(stop, calls.length),
    usage: toAnthropicUsage(usage),
  }),
  events: ({ text = "", calls = [], stop = "stop", usage = NO_USAGE }) => {
    const block = (index: number, content_block: unknown, deltas: readonly unknown[]) => [
      event("content_block_start", { index, content_block }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ];
    const { output_tokens, ...input } = toAnthropicUsage(usage);
    const textDeltas = halves(text).map((half) => ({ type: "text_delta", text: half }));
    return [
      event("message_start", { message: { usage: { ...input, output_tokens: 1 } } }),
      event("ping", {}),
      ...(text === "" ? [] : block(0, { type: "text", text: "" }, textDeltas)),
      ...calls.flatMap(({ name, argumentsText }, index) =>
        block(
          index + 1,
          { type: "tool_use", id: `toolu_${index}`, name, input: {} },
          halves(argumentsText).map((half) => ({ type: "input_json_delta", partial_json: half })),
        )
      ),
      event("message_delta", {
        delta: { stop_reason: anthropicStop(stop, calls.length) },
        usage: { output_tokens },
      }),
      event("message_stop", {}),
    ];
  },
  overloaded: event("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
};

const google: WireFormat = {
  api: "google",
  baseUrl: (origin) => origin,
  keyHeader: "x-goog-api-key",
  whole: ({ text = "", calls = [], stop = "stop", usage = NO_USAGE }) => ({
    candidates: [{
      index: 0,
      content: {
        role: "model",
        parts: [
          ...(text === "" ? [] : [{ text }]),
          ...calls.map(({ name, argumentsText }) => ({
            functionCall: { name, args: JSON.parse(argumentsText) },
          })),
        ],
      },
      finishReason: GOOGLE_STOPS[stop],
    }],
    usageMetadata: toGoogleUsage(usage),
  }),
  events: ({ text = "", calls = [], stop = "stop", usage = NO_USAGE }) => {
    const chunk = (parts: readonly unknown[], finishReason?: string) =>
      data({
        candidates: [{ content: { role: "model", parts }, finishReason }],
        usageMetadata: toGoogleUsage(usage),
      });
    return [
      ...halves(text).map((half) => chunk([{ text: half }])),
      ...calls.map(({ name, argumentsText }) =>
        chunk([{ functionCall: { name, args: JSON.parse(argumentsText) } }])
      ),
      chunk([], GOOGLE_STOPS[stop]),
    ];
  },
  overloaded: data({ error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } }),
};

/** The three formats that the adapters must read alike. */
export const WIRE_FORMATS: readonly WireFormat[] = [openai, anthropic, google];

/** The wire format of an API. */
export function formatOf(api: ModelApi): WireFormat {
  const format = WIRE_FORMATS.find((candidate) => candidate.api === api);
  if (format === undefined) throw new Error(`No wire format for ${api}`);
  return format;
}

const GOOGLE_STOPS = { stop: "STOP", length: "MAX_TOKENS", refused: "SAFETY" };

function openAiStop(stop: "stop" | "length" | "refused", callCount: number): string {
  if (stop === "length") return "length";
  return stop === "stop" && callCount > 0 ? "tool_calls" : "stop";
}

function anthropicStop(stop: "stop" | "length" | "refused", callCount: number): string {
  if (stop === "length") return "max_tokens";
  if (stop === "refused") return "refusal";
  return callCount > 0 ? "tool_use" : "end_turn";
}

function toOpenAiCall(call: { name: string; argumentsText: string }, index: number) {
  const { name, argumentsText } = call;
  return { id: `call_${index}`, type: "function", function: { name, arguments: argumentsText } };
}

function toOpenAiUsage({ input, cached, output }: typeof NO_USAGE) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** Anthropic counts cached tokens separately; half of the rest is written to the cache. */
function toAnthropicUsage({ input, cached, output }: typeof NO_USAGE) {
  const written = Math.floor((input - cached) / 2);
  return {
    input_tokens: input - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

/** Google counts thoughts separately from the answer. */
function toGoogleUsage({ input, cached, output }: typeof NO_USAGE) {
  const thoughts = Math.floor(output / 2);
  return {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - thoughts,
    thoughtsTokenCount: thoughts,
  };
}

/** Two pieces, so that streamed parts have to be joined. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function event(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\n${data({ type, ...fields })}`;
}
