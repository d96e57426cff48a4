import { OpenAI } from "../../vendor/openai.js";
import type { ModelAdapter, ModelEndpoint, ModelRequest, ModelResponse } from "./model_port.ts";
import { AnswerDeltas } from "./answer_deltas.ts";
import { fromNativeOutput, nativeOutput } from "./native_output.ts";
import {
  type AnswerTransport,
  callOverTransport,
  type ModelFetch,
  type TransportOptions,
} from "./model_transport.ts";
import { OfferedFunctions } from "./offered_functions.ts";
import { OpenAiAnswerReader } from "./openai_answer.ts";
import { type ChatRequestParts, isOpenAiItself, toChatRequest } from "./openai_messages.ts";
import { ResponsesAnswerReader } from "./openai_responses_answer.ts";
import { toResponsesRequest } from "./openai_responses_input.ts";
import { SDK_TIMEOUT_MS } from "./sdk_timeout.ts";

/**
 * Implements chat completions for OpenAI or any compatible server at the endpoint's base URL. Uses
 * the Responses API for what chat completions cannot express: the provider's own tools,
 * reasoning that continues after a tool call (at OpenAI), and models that take tools only there.
 */
export function createOpenAiAdapter(
  endpoint: ModelEndpoint,
  options: TransportOptions = {},
): ModelAdapter {
  return {
    generate: (request, asked) =>
      callOverTransport(endpoint, options, asked, async (transport) => {
        const { signal, onDelta } = asked;
        const client = createClient(endpoint, transport.fetch);
        const functions = new OfferedFunctions(request, "openai");
        // Servers that force every answer into the schema would prevent tool calls.
        const takesForm = isOpenAiItself(endpoint) || request.output?.isBesideTools === false;
        const output = takesForm ? nativeOutput(request) : null;
        const deltas = new AnswerDeltas({ request, onDelta, isDocument: output !== null });
        const parts = { functions, output, endpoint };
        const ask = needsResponses(request, endpoint) ? askResponses : askCompletions;
        const answer = await ask(client, { request, parts, deltas, signal, transport });
        return fromNativeOutput(functions.toOriginal(answer), output);
      }),
  };
}

function needsResponses(request: ModelRequest, endpoint: ModelEndpoint): boolean {
  if (request.needsResponses === true || (request.providerTools ?? []).length > 0) return true;
  return request.reasoningEffort !== undefined && isOpenAiItself(endpoint);
}

/** The bundled client has only these resources; see `scripts/vendor/unused_code.ts`. */
type OpenAiClient = Pick<OpenAI, "chat" | "responses">;

interface Asking {
  readonly request: ModelRequest;
  readonly parts: ChatRequestParts;
  readonly deltas: AnswerDeltas;
  readonly signal: AbortSignal;
  readonly transport: AnswerTransport;
}

async function askCompletions(
  { chat: { completions } }: OpenAiClient,
  { request, parts, deltas, signal, transport }: Asking,
): Promise<ModelResponse> {
  const { isStreamed } = transport;
  const options = isStreamed ? { stream_options: { include_usage: true } } : {};
  const body = { ...toChatRequest(request, parts), ...options, stream: isStreamed };
  const reader = new OpenAiAnswerReader(parts.endpoint, deltas);
  await completions.create(body, { signal });
  await transport.read(reader);
  return reader.finish();
}

async function askResponses(
  { responses }: OpenAiClient,
  { request, parts, deltas, signal, transport }: Asking,
): Promise<ModelResponse> {
  const body = { ...toResponsesRequest(request, parts), stream: transport.isStreamed };
  const reader = new ResponsesAnswerReader(parts.endpoint, deltas);
  await responses.create(body, { signal });
  await transport.read(reader);
  return reader.finish();
}

/** All options are explicit, so that no environment variable of the SDK applies. */
function createClient(endpoint: ModelEndpoint, fetch: ModelFetch): OpenAiClient {
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
