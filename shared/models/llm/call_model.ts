import type { ErrorCode } from "../../platform/errors/codes.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { toStorableJson, toStorableText } from "../../platform/values/storable_json.ts";
import { generateWithDowngrades } from "./request_downgrades.ts";
import {
  type CreateModelAdapter,
  type GenerateOptions,
  type ModelAnswer,
  modelAnswer,
  type ModelApi,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ModelUsage,
  type ProviderTool,
  type ReasoningEffort,
} from "./model_port.ts";
import { estimatedInputTokens, estimatedOutputTokens } from "./estimated_tokens.ts";
import { createDeltaRedactor, redactResponse } from "./redact_model_output.ts";
import { RefusedOptions } from "./refused_options.ts";
import type { ModelKey, ResolveModelKey } from "./resolve_model_key.ts";
import { SCRIPTED_PROVIDER } from "./scripted_model.ts";

/** The columns of `llm_providers` that a call needs. */
export interface ModelProvider {
  readonly id: string;
  readonly name: string;
  readonly api: ModelApi;
  readonly base_url: string | null;
  readonly default_model: string;
}

/** Model settings of an agent or a tool; null uses the provider's default. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly max_tokens: number | null;
  /** `max_tokens` is more than was asked for: a model with a lower limit keeps to its own. @default false */
  readonly has_optional_limit?: boolean;
  /** @default null */
  readonly reasoning_effort?: ReasoningEffort | null;
  /** Tools that the provider runs itself. @default none */
  readonly provider_tools?: readonly ProviderTool[];
}

/** A fallback model. */
export interface FallbackModel {
  readonly provider: ModelProvider;
  /** Null: the provider's default model. */
  readonly model: string | null;
}

/** A provider that failed before another one answered the call. */
export interface PassedProvider {
  readonly provider: string;
  readonly model: string;
  readonly code: ErrorCode;
}

/** One model call. */
export interface ModelCall {
  /** Null if the agent has no provider, or an inactive one. */
  readonly provider: ModelProvider | null;
  /** Used in this order when the previous ones fail because of their provider. @default none */
  readonly fallbacks?: readonly FallbackModel[];
  /** Whether a failure moves on to the next fallback. @default outages, quotas, missing models */
  readonly isPassable?: (error: SwarmError) => boolean;
  /** Whether a script may answer while the provider has no key. @default true */
  readonly mayStandIn?: boolean;
  /** Called when a call failed and the next provider is used: discard the streamed text. */
  readonly onFallback?: () => void;
  readonly settings: ModelSettings;
  /** The user whose keys and policies apply; null is the service itself. */
  readonly userId: string | null;
  /** The slug of the agent that asks: its script may answer. @default none */
  readonly agent?: string | null;
  /** The task whose job pays for the call. @default none */
  readonly taskId?: string | null;
  readonly prompt: Pick<
    ModelRequest,
    "system" | "messages" | "tools" | "output" | "streamedArgument" | "cacheKey"
  >;
  readonly signal: AbortSignal;
  /** Receives text as it streams in. The call streams only if this is set. */
  readonly onDelta?: (text: string) => void;
  /** Milliseconds until a stream is read again, which costs CPU. @default 200 */
  readonly streamPauseMs?: () => number;
  /**
   * Receives an estimate of an aborted call's usage, which the provider bills but does not report.
   */
  readonly onCut?: (usage: ModelUsageRecord) => void;
}

/** The usage of a call, in the form that steps store. */
export type ModelUsageRecord = ModelUsage & {
  /** Row of `llm_providers`; null for a model outside the registry. */
  readonly provider_id: string | null;
  readonly model: string;
  readonly key_source: ModelKey["keySource"];
  /** The reserved amount, settled when the call is booked; absent without a cap. */
  readonly reservation_id?: string;
  /** Providers that failed before; absent if the first one answered. */
  readonly passed_over?: readonly PassedProvider[];
};

/** The result of a call. */
export interface ModelCallResult {
  readonly answer: ModelAnswer;
  readonly usage: ModelUsageRecord;
}

/** The dependencies of model calls. */
export interface ModelCallPorts {
  readonly resolveKey: ResolveModelKey;
  readonly createAdapter: CreateModelAdapter;
  /**
   * Finds the provider whose scripts answer while an agent's own provider has no key; null for none.
   *
   * @default none: no scripts are served here
   */
  readonly findStandIn?: () => Promise<ModelProvider | null>;
}

/** Calls a model; the only way in which the product does so. */
export type CallModel = (call: ModelCall) => Promise<ModelCallResult>;

/**
 * Creates the product's model port. It picks the model (from the settings, otherwise the provider's
 * default), resolves the key through policies and Vault, calls the model (again without an option
 * that the model rejects, such as a temperature or strict tools, which it then no longer sends), and removes the key from the
 * result. If the provider is overloaded, out of quota or down, or does not serve the model (or if
 * `isPassable` says so), it uses the fallbacks; if all fail, it throws the first failure that may
 * pass with time, else the first.
 *
 * @throws SwarmError PROVIDER_NOT_FOUND, BUDGET_EXCEEDED, MODEL_KEY_MISSING, MODEL_POLICY_DENIED, WORK_PAUSED,
 * TOOL_ADDRESS_FORBIDDEN for a `base_url` that may not be reached, and the codes of
 * {@linkcode ModelAdapter}; the reason of an aborted signal.
 */
export function createModelCaller(ports: ModelCallPorts): CallModel {
  const refused = new RefusedOptions();
  return async (call) => {
    const first = call.provider === null
      ? []
      : [{ provider: call.provider, model: call.settings.model }];
    const candidates = [...first, ...call.fallbacks ?? []];
    const failures: { readonly passed: PassedProvider; readonly error: SwarmError }[] = [];
    for (const candidate of candidates) {
      if (failures.length > 0) call.onFallback?.();
      const model = candidate.model ?? candidate.provider.default_model;
      try {
        const { answer, usage } = await callOne(call, { ...candidate, model }, {
          ...ports,
          refused,
        });
        const passedOver = failures.map(({ passed }) => passed);
        if (passedOver.length === 0) return { answer, usage };
        return { answer, usage: { ...usage, passed_over: passedOver } };
      } catch (error) {
        // A fallback that is paused is waited for, too: without it, the call could only fail.
        if (!(error instanceof SwarmError) || error.code === "WORK_PAUSED") throw error;
        const isPassable = call.isPassable ?? isProvidersFailure;
        // An error of a fallback must not hide the original failure.
        const passed = { provider: candidate.provider.name, model, code: error.code };
        if (!isPassable(error) && failures.length === 0) {
          return await callStandIn(call, passed, error, { ...ports, refused });
        }
        call.signal.throwIfAborted();
        failures.push({ passed, error });
      }
    }
    const tried = failures.filter(({ error }) => !NEVER_ASKED.has(error.code));
    // Waiting helps if any of them can answer later.
    const passing = tried.find(({ error }) => error.isRetryable) ?? tried[0];
    throw passing?.error ?? failures[0]?.error ?? providerNotFound();
  };
}

/**
 * Has a script answer for a provider without a key.
 *
 * @throws SwarmError MODEL_SCRIPT_FAILED; the original error when it has another cause, or when the
 * agent has no script.
 */
async function callStandIn(
  call: ModelCall,
  passed: PassedProvider,
  original: SwarmError,
  ports: ModelCallPorts & { readonly refused: RefusedOptions },
): Promise<ModelCallResult> {
  const mayStandIn = passed.code === "MODEL_KEY_MISSING" && (call.mayStandIn ?? true);
  const provider = mayStandIn ? await ports.findStandIn?.() ?? null : null;
  if (provider === null) throw original;
  try {
    const { answer, usage } = await callOne(
      call,
      { provider, model: provider.default_model },
      ports,
    );
    return { answer, usage: { ...usage, passed_over: [passed] } };
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof SwarmError && error.code === "MODEL_SCRIPT_FAILED") throw error;
    throw original;
  }
}

async function callOne(
  call: ModelCall,
  { provider, model }: { readonly provider: ModelProvider; readonly model: string },
  ports: ModelCallPorts & { readonly refused: RefusedOptions },
): Promise<ModelCallResult> {
  const { userId, signal } = call;
  const inputTokens = estimatedInputTokens(call.prompt, provider.api);
  const key = await ports.resolveKey({
    providerId: provider.id,
    userId,
    model,
    inputTokens,
    outputTokens: call.settings.max_tokens,
    taskId: call.taskId ?? null,
    signal,
  });
  const { maxOutputTokens: max_tokens = call.settings.max_tokens } = key;
  if (signal.aborted) await key.release?.();
  signal.throwIfAborted();
  // Other providers do not learn which agent asks.
  const isScripted = provider.name === SCRIPTED_PROVIDER && ports.findStandIn !== undefined;
  const adapter = await ports.createAdapter({
    api: provider.api,
    providerName: provider.name,
    model,
    baseUrl: provider.base_url,
    apiKey: key.secret,
    ...(isScripted && call.agent ? { scriptedAgent: call.agent } : {}),
  }).catch(async (error: unknown) => {
    await key.release?.();
    throw error;
  });
  const request = withOwnData(toRequest(call, model, key.maxOutputTokens), provider);
  const { refused } = ports;
  const target = `${provider.id} ${provider.base_url} ${model}`;
  const generate = (options: GenerateOptions) =>
    generateWithDowngrades({ adapter, api: provider.api, options, target, refused }, request);
  const bill = {
    provider_id: provider.id,
    model,
    key_source: key.keySource,
    ...definedOnly({ reservation_id: key.reservationId }),
  };
  const beganAtMs = performance.now();
  let receivedChars = 0;
  const { streamPauseMs } = call;
  const onDelta = call.onDelta === undefined ? undefined : (text: string) => {
    receivedChars += text.length;
    call.onDelta?.(text);
  };
  try {
    const { usage, ...answer } = await withoutKey(
      key.secret,
      { signal, ...definedOnly({ onDelta, streamPauseMs }) },
      generate,
    );
    // As it will be stored, because the next request repeats it.
    const storable = modelAnswer.parse(toStorableJson(jsonValue.parse({
      ...answer,
      ...answer.finish_reason === "length" ? cutAt(request, usage) : {},
    })));
    return { answer: withOrigin(storable, provider), usage: { ...usage, ...bill } };
  } catch (error) {
    if (signal.aborted) {
      call.onCut?.({
        input_tokens: inputTokens,
        cached_input_tokens: 0,
        output_tokens: estimatedOutputTokens({
          receivedChars,
          seconds: (performance.now() - beganAtMs) / 1_000,
          maxTokens: max_tokens,
        }),
        ...bill,
      });
    } else {
      await key.release?.();
    }
    throw error;
  }
}

/** The limit that the request had, else as many tokens as the model could write. */
function cutAt(
  { maxOutputTokens }: ModelRequest,
  { output_tokens: written }: ModelUsage,
): Pick<ModelAnswer, "cut_at_tokens"> {
  return definedOnly({ cut_at_tokens: maxOutputTokens ?? (written > 0 ? written : undefined) });
}

/** The provider was not called: its key is missing, or a policy forbids it. */
const NEVER_ASKED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "MODEL_KEY_MISSING",
  "MODEL_POLICY_DENIED",
]);

/** True for a failure that another provider may not have, such as an outage or a retired model. */
function isProvidersFailure(error: SwarmError): boolean {
  switch (error.code) {
    case "MODEL_UNAVAILABLE":
    case "MODEL_RATE_LIMITED":
    case "MODEL_TIMEOUT":
    case "MODEL_NOT_FOUND":
      return true;
    case "MODEL_AUTH_FAILED":
      return isJsonObject(error.details) && error.details.reason === "quota";
    default:
      return false;
  }
}

/**
 * Records where the provider's data comes from: signatures and hidden reasoning are sent to no
 * other provider.
 */
function withOrigin(answer: ModelAnswer, { name }: ModelProvider): ModelAnswer {
  const { provider_data: data } = answer;
  return isJsonObject(data) ? { ...answer, provider_data: { ...data, provider: name } } : answer;
}

function withOwnData(request: ModelRequest, { name }: ModelProvider): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== "assistant" || message.provider_data === undefined) return message;
    const { provider_data: data, ...foreign } = message;
    return isJsonObject(data) && data.provider === name ? message : foreign;
  });
  return { ...request, messages };
}

/**
 * Texts as they are stored: providers refuse a lone surrogate, which tools send and which a shortened
 * text can end with.
 *
 * @param maxCoveredTokens The output that the reservation under a cost cap covers.
 */
function toRequest(
  { prompt, settings }: ModelCall,
  model: string,
  maxCoveredTokens?: number,
): ModelRequest {
  const { temperature, provider_tools: providerTools = [] } = settings;
  const maxOutputTokens = maxCoveredTokens ?? settings.max_tokens;
  const { reasoning_effort: reasoningEffort = null } = settings;
  // Reasoning models accept no temperature, or only their own.
  const hasTemperature = temperature !== null &&
    (reasoningEffort === null || reasoningEffort === "none");
  return {
    ...prompt,
    system: toStorableText(prompt.system),
    messages: prompt.messages.map((message) => ({
      ...message,
      text: toStorableText(message.text),
    })),
    model,
    ...(hasTemperature ? { temperature } : {}),
    ...(reasoningEffort === null ? {} : { reasoningEffort }),
    ...(providerTools.length === 0 ? {} : { providerTools }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(settings.has_optional_limit === true ||
        settings.max_tokens === null && maxCoveredTokens !== undefined
      ? { hasOptionalLimit: true }
      : {}),
  };
}

async function withoutKey(
  key: string | null,
  options: GenerateOptions,
  generate: (options: GenerateOptions) => Promise<ModelResponse>,
): Promise<ModelResponse> {
  if (key === null) return await generate(options);
  const { onDelta } = options;
  if (onDelta === undefined) return await redactResponse(await generate(options), key);
  const deltas = createDeltaRedactor(key, onDelta);
  const response = await generate({ ...options, onDelta: (text) => deltas.push(text) });
  deltas.end();
  return await redactResponse(response, key);
}

function providerNotFound(): SwarmError {
  return new SwarmError(
    "PROVIDER_NOT_FOUND",
    "Cannot call the model: the agent names no active provider",
    { hint: "Set the agent's provider_id to an active row of llm_providers." },
  );
}
