import { CLOSED_SETS } from "../db/database.types.ts";
import type { FileFacts } from "../file_tokens.ts";
import type { JsonObject } from "../json.ts";
import { jsonObject, jsonValue } from "../json_schema.ts";
import { z } from "../vendor/zod.js";

/** The wire formats the product speaks; `llm_providers.api` holds one of them. */
export type ModelApi = (typeof CLOSED_SETS.llm_providers.api)[number];

/** A call the model asked for. */
export const modelToolCall = z.object({
  /** Unique within the turn; made by the adapter where the provider gives none. */
  call_id: z.string(),
  name: z.string(),
  /** Null when the model's arguments were not a JSON object; `malformed` then holds the text. */
  arguments: jsonObject.nullable(),
  /** The raw text of arguments that did not parse, at most 2,000 characters. */
  malformed: z.string().exactOptional(),
});

/** A tool that the model's provider ran itself, as the trace tells of it. */
export const providerToolCall = z.object({
  name: z.enum(CLOSED_SETS.agents.provider_tools),
  input: jsonValue,
  /** Shortened: the whole of it is the provider's to keep. */
  output: jsonValue,
});

/**
 * What a model answered: the one form that adapters return, steps store (`task_steps.output`) and
 * the next request repeats.
 */
export const modelAnswer = z.object({
  text: z.string(),
  tool_calls: z.array(modelToolCall),
  finish_reason: z.enum(["stop", "tool_calls", "length", "refused"]),
  /** What the model thought before it answered, where its provider says. For people: no model reads it. */
  reasoning: z.string().exactOptional(),
  provider_tool_calls: z.array(providerToolCall).exactOptional(),
  /** What the provider wants back unchanged (thinking blocks, thought signatures). */
  provider_data: jsonValue.exactOptional(),
});

/** See {@linkcode modelToolCall}. */
export type ModelToolCall = z.infer<typeof modelToolCall>;
/** See {@linkcode providerToolCall}. */
export type ProviderToolCall = z.infer<typeof providerToolCall>;
/** A tool that providers run themselves. */
export type ProviderTool = ProviderToolCall["name"];
/** How much a model reasons before it answers. */
export type ReasoningEffort = (typeof CLOSED_SETS.agents.reasoning_effort)[number];
/** See {@linkcode modelAnswer}. */
export type ModelAnswer = z.infer<typeof modelAnswer>;

/** A file of a user's message, or of a tool's result. */
export interface ModelFile {
  /** In the bucket `supaswarm-data`. */
  readonly path: string;
  /** As what a model reads it, and how large it is; absent where nobody has looked. */
  readonly facts?: FileFacts;
  /** An image or a PDF, in base64; null until it has been read. Text files become part of the text. */
  readonly content: { readonly mediaType: string; readonly base64: string } | null;
}

/** One entry of a conversation, free of any provider's format. */
export type ModelMessage =
  | { readonly role: "user"; readonly text: string; readonly files?: readonly ModelFile[] }
  | (
    & { readonly role: "assistant" }
    & Omit<ModelAnswer, "finish_reason" | "reasoning" | "provider_tool_calls">
  )
  | {
    readonly role: "tool";
    readonly call_id: string;
    readonly name: string;
    readonly text: string;
    readonly is_error: boolean;
    /** What of the result is shown as it is; its text names each file. */
    readonly files?: readonly ModelFile[];
  };

/** The files that a message shows. */
export function filesOf(message: ModelMessage): readonly ModelFile[] {
  return message.role === "assistant" ? [] : message.files ?? [];
}

/** A function the model may call. `name` is already legal for the provider. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /**
   * The tool's own JSON Schema of its arguments. Each adapter sends it in its provider's form and
   * maps the arguments of calls back, so that nobody else knows of that form.
   */
  readonly inputSchema: JsonObject;
}

/** Tokens as the provider counted them. */
export interface ModelUsage {
  /** All of the input, from the provider's cache or not. */
  readonly input_tokens: number;
  /** The part of `input_tokens` that the provider read from its cache. */
  readonly cached_input_tokens: number;
  /** The part of `input_tokens` that the provider wrote to its cache, where it charges for that. */
  readonly cache_write_input_tokens?: number;
  readonly output_tokens: number;
  /** Searches that the provider made itself. */
  readonly web_search_calls?: number;
  /** Programs that the provider ran itself. */
  readonly code_execution_calls?: number;
}

/** The form that an answer has to have. */
export interface AnswerForm {
  readonly schema: JsonObject;
  /** The tools on offer include others than those that every agent has. */
  readonly isBesideTools: boolean;
}

/** A whole request to one model. */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** A text argument that is passed on as it streams in, like the answer's own text. */
  readonly streamedArgument?: { readonly tool: string; readonly argument: string };
  /**
   * Asks for answers of this form in the provider's own way. An adapter whose provider has none
   * beside these tools ignores it: whoever asks checks the answer.
   */
  readonly output?: AnswerForm;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Left to the provider when absent. */
  readonly reasoningEffort?: ReasoningEffort;
  /** Asks for reasoning by a number of tokens, as older models take it. @default false */
  readonly hasReasoningBudget?: boolean;
  /** Asks for no encrypted reasoning, which models without reasoning refuse. @default false */
  readonly keepsNoReasoning?: boolean;
  /** Tools that the provider runs itself. @default none */
  readonly providerTools?: readonly ProviderTool[];
  /** Marks calls of other providers' models as unsigned, where signatures are demanded. @default false */
  readonly marksForeignCalls?: boolean;
  /** Requests with the same key begin alike, so a provider that spreads them may keep them together. */
  readonly cacheKey?: string;
  /** Marks nothing for the provider's cache. @default false */
  readonly isUncached?: boolean;
  /** Offers tools without strict mode, which not every server knows. @default false */
  readonly hasBasicTools?: boolean;
}

/** A whole answer of one model, and what it used. */
export type ModelResponse = ModelAnswer & { readonly usage: ModelUsage };

/** Per-call options. */
export interface GenerateOptions {
  /** Aborts the request in flight; `generate` then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Receives text as it streams in. Given, the adapter streams; absent, it does not. */
  readonly onDelta?: (text: string) => void;
}

/**
 * One provider's API behind the port.
 *
 * `generate` never retries by itself: the queue owns retries. It throws `SwarmError` with
 * `MODEL_RATE_LIMITED` (with `retryAfterSeconds` where the provider said so),
 * `MODEL_UNAVAILABLE` (5xx, connection reset, cut stream), `MODEL_TIMEOUT`,
 * `MODEL_AUTH_FAILED`, `MODEL_REQUEST_INVALID` or `MODEL_OUTPUT_INVALID`.
 */
export interface ModelAdapter {
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelResponse>;
}

/** How to reach a provider; resolved per call, the key lives in memory only. */
export interface ModelEndpoint {
  readonly api: ModelApi;
  /** The provider's name (`llm_providers.name`), for error messages. */
  readonly providerName: string;
  /** Null for the provider's own address. */
  readonly baseUrl: string | null;
  /** Null when the provider requires none (a local server). */
  readonly apiKey: string | null;
}

/** Makes the adapter for an endpoint; imports the provider's SDK when first needed. */
export type CreateModelAdapter = (endpoint: ModelEndpoint) => Promise<ModelAdapter>;
