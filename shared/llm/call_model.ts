import type { ErrorCode } from "../errors/codes.ts";
import { definedOnly } from "../defined_only.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { isJsonObject } from "../json.ts";
import { generateAsTaken } from "./concessions.ts";
import type {
  CreateModelAdapter,
  GenerateOptions,
  ModelAnswer,
  ModelApi,
  ModelMessage,
  ModelRequest,
  ModelResponse,
  ModelUsage,
  ProviderTool,
  ReasoningEffort,
} from "./model_port.ts";
import { estimatedInputTokens } from "./estimated_tokens.ts";
import { createDeltaRedactor, redactResponse } from "./redact_model_output.ts";
import type { ModelKey, ResolveModelKey } from "./resolve_model_key.ts";

/** A row of `llm_providers`, as far as a call needs it. */
export interface ModelProvider {
  readonly id: string;
  readonly name: string;
  readonly api: ModelApi;
  readonly base_url: string | null;
  readonly default_model: string;
}

/** What an agent, or a tool's settings, say about the model; null leaves it to the provider. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly max_tokens: number | null;
  /** @default null */
  readonly reasoning_effort?: ReasoningEffort | null;
  /** Tools that the provider runs itself. @default none */
  readonly provider_tools?: readonly ProviderTool[];
}

/** A model to ask instead. */
export interface FallbackModel {
  readonly provider: ModelProvider;
  /** Null: the provider's default model. */
  readonly model: string | null;
}

/** A provider that did not answer a call, which another one then did. */
export interface PassedProvider {
  readonly provider: string;
  readonly model: string;
  readonly code: ErrorCode;
}

/** One model call of the product. */
export interface ModelCall {
  /** Null when the agent names none, or one that is not active. */
  readonly provider: ModelProvider | null;
  /** Asked in this order when those before them fail for reasons of their provider. @default none */
  readonly fallbacks?: readonly FallbackModel[];
  /** Whether a failure is answered by the next fallback. @default outages and used-up quotas */
  readonly isPassable?: (error: SwarmError) => boolean;
  /** Hears that a call has failed and the next provider is asked: what has streamed in is void. */
  readonly onFallback?: () => void;
  readonly settings: ModelSettings;
  /** Whose key may pay and whose policies count; null is the service itself. */
  readonly userId: string | null;
  readonly prompt: Pick<
    ModelRequest,
    "system" | "messages" | "tools" | "output" | "streamedArgument" | "cacheKey"
  >;
  readonly signal: AbortSignal;
  /** Receives text as it streams in. Given, the call streams; absent, it does not. */
  readonly onDelta?: (text: string) => void;
}

/** What a call used, in the form in which steps store it. */
export type ModelUsageRecord = ModelUsage & {
  /** Row of `llm_providers`; null for a model outside the registry. */
  readonly provider_id: string | null;
  readonly model: string;
  readonly key_source: ModelKey["keySource"];
  /** What was reserved for the call, to be settled when it is booked; absent without a cap. */
  readonly reservation_id?: string;
  /** Providers that were asked before and failed; absent when the first one answered. */
  readonly passed_over?: readonly PassedProvider[];
};

/** What came of a call. */
export interface ModelCallResult {
  readonly answer: ModelAnswer;
  readonly usage: ModelUsageRecord;
}

/** What calling models needs from outside. */
export interface ModelCallPorts {
  readonly resolveKey: ResolveModelKey;
  readonly createAdapter: CreateModelAdapter;
}

/** The one way in which the product calls a model. */
export type CallModel = (call: ModelCall) => Promise<ModelCallResult>;

/**
 * Makes the product's model port: it picks the model (the settings', else the provider's default),
 * asks policies and Vault for the key, calls once (again without what the model refuses: a
 * temperature, or strict tools), and keeps the key out of whatever it returns. Where the provider
 * is overloaded, out of quota or down (or as `isPassable` says), the fallbacks are asked; when none
 * of them answers, the first failure of one that was asked is thrown.
 *
 * @throws SwarmError PROVIDER_NOT_FOUND, MODEL_KEY_MISSING, MODEL_POLICY_DENIED,
 * TOOL_ADDRESS_FORBIDDEN for a `base_url` that may not be reached, and the codes of
 * {@linkcode ModelAdapter}; the reason of an aborted signal.
 */
export function createModelCaller(ports: ModelCallPorts): CallModel {
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
        const { answer, usage } = await callOne(call, { ...candidate, model }, ports);
        const passedOver = failures.map(({ passed }) => passed);
        if (passedOver.length === 0) return { answer, usage };
        return { answer, usage: { ...usage, passed_over: passedOver } };
      } catch (error) {
        if (!(error instanceof SwarmError)) throw error;
        const isPassable = call.isPassable ?? isProvidersFailure;
        // What is wrong with a fallback must not hide why it was asked.
        if (!isPassable(error) && failures.length === 0) throw error;
        call.signal.throwIfAborted();
        const passed = { provider: candidate.provider.name, model, code: error.code };
        failures.push({ passed, error });
      }
    }
    const tried = failures.find(({ error }) => !NEVER_ASKED.has(error.code));
    throw tried?.error ?? failures[0]?.error ?? providerNotFound();
  };
}

async function callOne(
  call: ModelCall,
  { provider, model }: { readonly provider: ModelProvider; readonly model: string },
  ports: ModelCallPorts,
): Promise<ModelCallResult> {
  const { userId, signal } = call;
  const key = await ports.resolveKey({
    providerId: provider.id,
    userId,
    model,
    inputTokens: estimatedInputTokens(call.prompt, provider.api),
    outputTokens: call.settings.max_tokens,
  });
  signal.throwIfAborted();
  const adapter = await ports.createAdapter({
    api: provider.api,
    providerName: provider.name,
    baseUrl: provider.base_url,
    apiKey: key.secret,
  });
  const request = withOwnData(toRequest(call, model), provider);
  const generate = (options: GenerateOptions) =>
    generateAsTaken({ adapter, api: provider.api, options }, request);
  try {
    const { usage, ...answer } = await withoutKey(key.secret, call, generate);
    return {
      answer: withOrigin(answer, provider),
      usage: {
        ...usage,
        provider_id: provider.id,
        model,
        key_source: key.keySource,
        ...definedOnly({ reservation_id: key.reservationId }),
      },
    };
  } catch (error) {
    // An aborted call may have been answered in part, and paid for.
    if (!signal.aborted) await key.release?.();
    throw error;
  }
}

/** The provider itself said nothing: its key is missing, or a policy forbids it. */
const NEVER_ASKED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "MODEL_KEY_MISSING",
  "MODEL_POLICY_DENIED",
]);

/** True of a failure that another provider need not share: overload, outage, a used-up quota. */
function isProvidersFailure(error: SwarmError): boolean {
  switch (error.code) {
    case "MODEL_UNAVAILABLE":
    case "MODEL_RATE_LIMITED":
    case "MODEL_TIMEOUT":
      return true;
    case "MODEL_AUTH_FAILED":
      return isJsonObject(error.details) && error.details.reason === "quota";
    default:
      return false;
  }
}

/** Notes from whom the provider's data comes: signatures and hidden reasoning go to nobody else. */
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

function toRequest({ prompt, settings }: ModelCall, model: string): ModelRequest {
  const { temperature, max_tokens: maxOutputTokens, provider_tools: providerTools = [] } = settings;
  const { reasoning_effort: reasoningEffort = null } = settings;
  // Models that reason take none, or none but their own.
  const hasTemperature = temperature !== null &&
    (reasoningEffort === null || reasoningEffort === "none");
  return {
    ...prompt,
    model,
    ...(hasTemperature ? { temperature } : {}),
    ...(reasoningEffort === null ? {} : { reasoningEffort }),
    ...(providerTools.length === 0 ? {} : { providerTools }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  };
}

async function withoutKey(
  key: string | null,
  { signal, onDelta }: ModelCall,
  generate: (options: GenerateOptions) => Promise<ModelResponse>,
): Promise<ModelResponse> {
  if (onDelta === undefined) {
    const response = await generate({ signal });
    return key === null ? response : await redactResponse(response, key);
  }
  if (key === null) return generate({ signal, onDelta });
  const deltas = createDeltaRedactor(key, onDelta);
  const response = await generate({ signal, onDelta: (text) => deltas.push(text) });
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
