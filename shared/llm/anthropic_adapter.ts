import { BaseAnthropic, Messages } from "../vendor/anthropic.js";
import { AnthropicAnswerReader } from "./anthropic_answer.ts";
import { toMessagesRequest } from "./anthropic_messages.ts";
import type { ModelAdapter, ModelEndpoint } from "./model_port.ts";
import { AnswerDeltas } from "./answer_deltas.ts";
import { fromNativeOutput, nativeOutput } from "./native_output.ts";
import { callOverTransport, type ModelFetch, type TransportOptions } from "./model_transport.ts";
import { OfferedFunctions } from "./offered_functions.ts";
import { SDK_TIMEOUT_MS } from "./sdk_timeout.ts";

/** Speaks the messages API of Anthropic or of a compatible server at the endpoint's base URL. */
export function createAnthropicAdapter(
  endpoint: ModelEndpoint,
  options: TransportOptions = {},
): ModelAdapter {
  return {
    generate: (request, asked) =>
      callOverTransport(endpoint, options, asked, async (fetch, isStreamed) => {
        const { signal, onDelta } = asked;
        const messages = new Messages(createClient(endpoint, fetch));
        const functions = new OfferedFunctions(request, "anthropic");
        const output = nativeOutput(request);
        const body = toMessagesRequest(request, functions, output);
        const deltas = new AnswerDeltas({ request, onDelta, isDocument: output !== null });
        const reader = new AnthropicAnswerReader(endpoint, deltas);
        if (!isStreamed) {
          reader.readMessage(await messages.create(body, { signal }));
        } else {
          const events = await messages.create({ ...body, stream: true }, { signal });
          for await (const event of events) reader.readEvent(event);
        }
        return fromNativeOutput(functions.toOriginal(reader.finish()), output);
      }),
  };
}

/** Everything is given, so that no environment variable or profile of the SDK's has a say. */
function createClient(endpoint: ModelEndpoint, fetch: ModelFetch): BaseAnthropic {
  return new BaseAnthropic({
    apiKey: endpoint.apiKey ?? "none",
    webhookKey: null,
    // The SDK adds the version itself; operators tend to write it anyway.
    baseURL: (endpoint.baseUrl ?? "https://api.anthropic.com").replace(/(\/v1)?\/?$/, ""),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
    fetch,
  });
}
