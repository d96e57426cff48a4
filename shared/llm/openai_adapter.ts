import { OpenAI } from "../vendor/openai.js";
import type { ModelAdapter, ModelEndpoint } from "./model_port.ts";
import { AnswerDeltas } from "./answer_deltas.ts";
import { fromNativeOutput, nativeOutput } from "./native_output.ts";
import { callOverTransport, type ModelFetch, type TransportOptions } from "./model_transport.ts";
import { OfferedFunctions } from "./offered_functions.ts";
import { OpenAiAnswerReader } from "./openai_answer.ts";
import { isOpenAiItself, toChatRequest } from "./openai_messages.ts";
import { SDK_TIMEOUT_MS } from "./sdk_timeout.ts";

/** Speaks chat completions: OpenAI itself, or any compatible server at the endpoint's base URL. */
export function createOpenAiAdapter(
  endpoint: ModelEndpoint,
  options: TransportOptions = {},
): ModelAdapter {
  return {
    generate: (request, asked) =>
      callOverTransport(endpoint, options, asked, async (fetch, isStreamed) => {
        const { signal, onDelta } = asked;
        const { chat: { completions } } = createClient(endpoint, fetch);
        const functions = new OfferedFunctions(request, "openai");
        // Servers that hold every answer to the form would not let the model call its tools.
        const takesForm = isOpenAiItself(endpoint) || request.output?.isBesideTools === false;
        const output = takesForm ? nativeOutput(request) : null;
        const body = toChatRequest(request, { functions, output, endpoint });
        const deltas = new AnswerDeltas({ request, onDelta, isDocument: output !== null });
        const reader = new OpenAiAnswerReader(endpoint, deltas);
        if (!isStreamed) {
          reader.readCompletion(await completions.create({ ...body, stream: false }, { signal }));
        } else {
          const stream_options = { include_usage: true };
          const streamed = { ...body, stream: true, stream_options } as const;
          const chunks = await completions.create(streamed, { signal });
          for await (const chunk of chunks) reader.readChunk(chunk);
        }
        return fromNativeOutput(functions.toOriginal(reader.finish()), output);
      }),
  };
}

/** Everything is given, so that no environment variable of the SDK's has a say. */
function createClient(endpoint: ModelEndpoint, fetch: ModelFetch): OpenAI {
  return new OpenAI({
    apiKey: endpoint.apiKey ?? "none",
    adminAPIKey: null,
    baseURL: endpoint.baseUrl ?? "https://api.openai.com/v1",
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: "off",
    fetch,
  });
}
