import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type {
  GenerateOptions,
  ModelAdapter,
  ModelApi,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from "./model_port.ts";
import type { RefusedOptions } from "./refused_options.ts";

/** A request option that is dropped or changed when the provider rejects it. */
interface Downgrade {
  readonly isAbout: RegExp;
  /**
   * What a refusal depends on besides the model; later requests with the same are not offered the
   * option. Absent: on this conversation only, such as on a broken file in it.
   */
  dependsOn?(request: ModelRequest): string;
  /** Undefined if the request does not have the option. */
  apply(request: ModelRequest, api: ModelApi): ModelRequest | undefined;
}

const DOWNGRADES: readonly Downgrade[] = [
  // Current OpenAI models take functions only over the Responses API, unless they do not reason.
  {
    isAbout: /\bv1\/responses\b/i,
    dependsOn: ofTheModel,
    apply(request, api) {
      return api !== "openai" || request.needsResponses === true
        ? undefined
        : { ...request, needsResponses: true };
    },
  },
  // Reasoning models accept only their own temperature.
  {
    isAbout: /temperature/i,
    dependsOn: ofTheModel,
    apply({ temperature, ...request }) {
      return temperature === undefined ? undefined : request;
    },
  },
  // A model that writes less than the limit allows keeps to the limit by itself.
  {
    isAbout: /max_?(completion_|output_)?_?tokens/i,
    dependsOn: ({ maxOutputTokens }) => String(maxOutputTokens),
    apply({ maxOutputTokens: _, hasOptionalLimit, ...request }) {
      return hasOptionalLimit === true ? request : undefined;
    },
  },
  // Gemini checks the signatures of its own calls; calls of other models have none.
  {
    isAbout: /thought_?signature/i,
    dependsOn: ofTheModel,
    apply(request) {
      return request.marksForeignCalls === true
        ? undefined
        : { ...request, marksForeignCalls: true };
    },
  },
  // Models that do not reason have nothing to encrypt.
  {
    isAbout: /encrypted content is not supported/i,
    dependsOn: ofTheModel,
    apply(request) {
      return request.keepsNoReasoning === true ? undefined : { ...request, keepsNoReasoning: true };
    },
  },
  // Newer models take an effort, older ones a number of tokens.
  {
    isAbout: /reasoning|thinking|thought|effort/i,
    dependsOn: ({ reasoningEffort = "" }) => reasoningEffort,
    apply(request, api) {
      const { reasoningEffort, ...withoutEffort } = request;
      if (reasoningEffort === undefined) return undefined;
      const hasBudgets = api !== "openai" && request.hasReasoningBudget !== true;
      return hasBudgets ? { ...request, hasReasoningBudget: true } : withoutEffort;
    },
  },
  // Some servers reject their own reasoning in the next request.
  { isAbout: /reasoning|thinking|thought|signature|encrypted/i, apply: withoutKeptData },
  {
    isAbout: /cache/i,
    dependsOn: ofTheModel,
    apply({ cacheKey: _, ...request }) {
      return request.isUncached === true ? undefined : { ...request, isUncached: true };
    },
  },
  {
    isAbout: /response_?format|response[_ ]?mime|output_config|json_?schema|structured|guided/i,
    dependsOn: ({ output }) => JSON.stringify(output?.schema ?? null),
    apply({ output, ...request }) {
      return output === undefined ? undefined : request;
    },
  },
  // Some models do not accept images or PDFs, and tools may return broken ones.
  {
    isAbout: /image|vision|multi-?modal|document|pdf|file|media|base64|content[ _]?(type|part)/i,
    apply: withoutResultFiles,
  },
  // Compatible servers may not support strict tools, and strict mode has undocumented rules.
  {
    isAbout: /strict|schema|tools?\b|function/i,
    dependsOn: ({ tools }) => JSON.stringify(tools.map(({ name }) => name)),
    apply(request) {
      const canBeBasic = request.tools.length > 0 && request.hasBasicTools !== true;
      return canBeBasic ? { ...request, hasBasicTools: true } : undefined;
    },
  },
];

/** A model as its provider serves it, and how to call it. */
export interface CalledModel {
  readonly adapter: ModelAdapter;
  readonly api: ModelApi;
  readonly options: GenerateOptions;
  /** Identifies the provider and the model in `refused`. */
  readonly target: string;
  readonly refused: RefusedOptions;
}

/**
 * Repeats the request without the options that the provider rejects, once per option, and
 * remembers them for later requests. Which model supports which option changes too often for a
 * list, and providers reject options before they generate.
 *
 * @throws what the adapter throws.
 */
export async function generateWithDowngrades(
  { adapter, api, options, target, refused }: CalledModel,
  request: ModelRequest,
): Promise<ModelResponse> {
  const keyOf = (change: Downgrade) =>
    `${target} ${DOWNGRADES.indexOf(change)} ${change.dependsOn?.(request) ?? ""}`;
  const counts = new Map(DOWNGRADES.map((one) => [one, refused.countOf(keyOf(one))]));
  const learned = new Set<Downgrade>();
  let asked = downgrade(request, counts, api);
  while (true) {
    try {
      const response = await adapter.generate(asked, options);
      // One that depends on this conversation may be the reason for the others, too.
      const isLasting = [...learned].every(({ dependsOn }) => dependsOn !== undefined);
      if (isLasting) learned.forEach((one) => refused.remember(keyOf(one), counts.get(one) ?? 0));
      return response;
    } catch (error) {
      const isRefused = error instanceof SwarmError && error.code === "MODEL_REQUEST_INVALID";
      const weaker = isRefused ? withoutRefused(asked, error.message, api) : undefined;
      if (weaker === undefined) throw error;
      counts.set(weaker.change, (counts.get(weaker.change) ?? 0) + 1);
      learned.add(weaker.change);
      asked = weaker.request;
    }
  }
}

function ofTheModel(): string {
  return "";
}

/** Makes each change as many times as `counts` says. */
function downgrade(
  request: ModelRequest,
  counts: ReadonlyMap<Downgrade, number>,
  api: ModelApi,
): ModelRequest {
  let weaker = request;
  for (const [change, count] of counts) {
    for (let made = 0; made < count; made++) weaker = change.apply(weaker, api) ?? weaker;
  }
  return weaker;
}

/** Undefined if the rejection does not concern an optional part. */
function withoutRefused(
  request: ModelRequest,
  refusal: string,
  api: ModelApi,
): { readonly change: Downgrade; readonly request: ModelRequest } | undefined {
  for (const change of DOWNGRADES) {
    const weaker = change.isAbout.test(refusal) ? change.apply(request, api) : undefined;
    if (weaker !== undefined) return { change, request: weaker };
  }
  return undefined;
}

/** Replaces tools' files with their names, because no user chose to send them. */
function withoutResultFiles(request: ModelRequest): ModelRequest | undefined {
  const hasFiles = request.messages.some((message) =>
    message.role === "tool" && (message.files?.length ?? 0) > 0
  );
  if (!hasFiles) return undefined;
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== "tool" || message.files === undefined) return message;
    const { files, text, ...rest } = message;
    const notes = files.map(({ path }) => `(${path} is not shown: the model refused it)`);
    return { ...rest, text: [text, ...notes].join("\n") };
  });
  return { ...request, messages };
}

function withoutKeptData(request: ModelRequest): ModelRequest | undefined {
  const hasKept = request.messages.some((message) =>
    message.role === "assistant" && message.provider_data !== undefined
  );
  if (!hasKept) return undefined;
  const messages = request.messages.map((message) => {
    if (message.role !== "assistant") return message;
    const { provider_data: _, ...own } = message;
    return own;
  });
  return { ...request, messages };
}
