import { SwarmError } from "../errors/swarm_error.ts";
import type {
  GenerateOptions,
  ModelAdapter,
  ModelApi,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from "./model_port.ts";

/** Something that a request goes on without, or asks for otherwise, when the provider refuses it. */
interface Concession {
  readonly isAbout: RegExp;
  /** Undefined where the request has nothing of the kind. */
  concede(request: ModelRequest, api: ModelApi): ModelRequest | undefined;
}

const CONCESSIONS: readonly Concession[] = [
  // Reasoning models take no temperature but their own.
  {
    isAbout: /temperature/i,
    concede({ temperature, ...request }) {
      return temperature === undefined ? undefined : request;
    },
  },
  // Gemini checks calls of its own making by their signature; those of other models have none.
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
  // Newer models are asked for an effort, older ones for a number of tokens.
  {
    isAbout: /reasoning|thinking|thought|effort/i,
    concede(request, api) {
      const { reasoningEffort, ...withoutEffort } = request;
      if (reasoningEffort === undefined) return undefined;
      const hasBudgets = api !== "openai" && request.hasReasoningBudget !== true;
      return hasBudgets ? { ...request, hasReasoningBudget: true } : withoutEffort;
    },
  },
  // Not every server takes back the reasoning that it gave.
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
  // Not every model takes images or PDFs, and not everything that a tool calls an image is one.
  {
    isAbout: /image|vision|multi-?modal|document|pdf|file|media|base64|content[ _]?(type|part)/i,
    concede: withoutResultFiles,
  },
  // Compatible servers need not know strict tools, and strict mode has more rules than its
  // documentation says.
  {
    isAbout: /strict|schema|tools?\b|function/i,
    concede(request) {
      const canBeBasic = request.tools.length > 0 && request.hasBasicTools !== true;
      return canBeBasic ? { ...request, hasBasicTools: true } : undefined;
    },
  },
];

/**
 * Asks again without what the provider refuses, once for each thing. Which models take what
 * changes too often to be listed, and providers say so before they answer.
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

/** Undefined when the refusal is about nothing that could be left out. */
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

/** Nobody chose what tools return, so the model goes on with the files' names alone. */
function withoutResultFiles(request: ModelRequest): ModelRequest | undefined {
  const hasFiles = request.messages.some((message) =>
    message.role === "tool" && (message.files?.length ?? 0) > 0
  );
  if (!hasFiles) return undefined;
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== "tool" || message.files === undefined) return message;
    const { files, text, ...rest } = message;
    const notes = files.map(({ path }) => `(${path} is not shown: the model has refused it)`);
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
