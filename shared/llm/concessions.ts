import { SwarmError } from "../errors/swarm_error.ts";
import type {
  GenerateOptions,
  ModelAdapter,
  ModelApi,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from "./model_port.ts";

/** A request option that is dropped or changed when the provider rejects it. */
interface Concession {
  readonly isAbout: RegExp;
  /** Undefined if the request does not have the option. */
  concede(request: ModelRequest, api: ModelApi): ModelRequest | undefined;
}

const CONCESSIONS: readonly Concession[] = [
  // Current OpenAI models take functions only over the Responses API, unless they do not reason.
  {
    isAbout: /\bv1\/responses\b/i,
    concede(request, api) {
      return api !== "openai" || request.needsResponses === true
        ? undefined
        : { ...request, needsResponses: true };
    },
  },
  // Reasoning models accept only their own temperature.
  {
    isAbout: /temperature/i,
    concede({ temperature, ...request }) {
      return temperature === undefined ? undefined : request;
    },
  },
  // Gemini checks the signatures of its own calls; calls of other models have none.
  {
    isAbout: /thought_?signature/i,
    concede(request) {
      return request.marksForeignCalls === true
        ? undefined
        : { ...request, marksForeignCalls: true };
    },
  },
  // Models that do not reason have nothing to encrypt.
  {
    isAbout: /encrypted content is not supported/i,
    concede(request) {
      return request.keepsNoReasoning === true ? undefined : { ...request, keepsNoReasoning: true };
    },
  },
  // Newer models take an effort, older ones a number of tokens.
  {
    isAbout: /reasoning|thinking|thought|effort/i,
    concede(request, api) {
      const { reasoningEffort, ...withoutEffort } = request;
      if (reasoningEffort === undefined) return undefined;
      const hasBudgets = api !== "openai" && request.hasReasoningBudget !== true;
      return hasBudgets ? { ...request, hasReasoningBudget: true } : withoutEffort;
    },
  },
  // Some servers reject their own reasoning in the next request.
  { isAbout: /reasoning|thinking|thought|signature|encrypted/i, concede: withoutKeptData },
  {
    isAbout: /cache/i,
    concede({ cacheKey: _, ...request }) {
      return request.isUncached === true ? undefined : { ...request, isUncached: true };
    },
  },
  {
    isAbout: /response_?format|output_config|json_?schema|structured|guided/i,
    concede({ output, ...request }) {
      return output === undefined ? undefined : request;
    },
  },
  // Some models do not accept images or PDFs, and tools may return broken ones.
  {
    isAbout: /image|vision|multi-?modal|document|pdf|file|media|base64|content[ _]?(type|part)/i,
    concede: withoutResultFiles,
  },
  // Compatible servers may not support strict tools, and strict mode has undocumented rules.
  {
    isAbout: /strict|schema|tools?\b|function/i,
    concede(request) {
      const canBeBasic = request.tools.length > 0 && request.hasBasicTools !== true;
      return canBeBasic ? { ...request, hasBasicTools: true } : undefined;
    },
  },
];

/**
 * Repeats the request without the options that the provider rejects, once per option. Which model
 * supports which option changes too often for a list, and providers reject options before they
 * generate.
 *
 * @throws what the adapter throws.
 */
export async function generateAsTaken(
  { adapter, api, options }: {
    readonly adapter: ModelAdapter;
    readonly api: ModelApi;
    readonly options: GenerateOptions;
  },
  request: ModelRequest,
): Promise<ModelResponse> {
  try {
    return await adapter.generate(request, options);
  } catch (error) {
    const isRefused = error instanceof SwarmError && error.code === "MODEL_REQUEST_INVALID";
    const weaker = isRefused ? withoutRefused(request, error.message, api) : undefined;
    if (weaker === undefined) throw error;
    return await generateAsTaken({ adapter, api, options }, weaker);
  }
}

/** Undefined if the rejection does not concern an optional part. */
function withoutRefused(
  request: ModelRequest,
  refusal: string,
  api: ModelApi,
): ModelRequest | undefined {
  for (const { isAbout, concede } of CONCESSIONS) {
    const weaker = isAbout.test(refusal) ? concede(request, api) : undefined;
    if (weaker !== undefined) return weaker;
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
