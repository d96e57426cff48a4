import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import { type Anthropic, BaseAnthropic, Messages } from "../../vendor/anthropic.js";
import { AnthropicAnswerReader } from "./anthropic_answer.ts";
import { toMessagesRequest } from "./anthropic_messages.ts";
import type { ModelAdapter, ModelEndpoint } from "./model_port.ts";
import { AnswerDeltas } from "./answer_deltas.ts";
import { fromNativeOutput, nativeOutput } from "./native_output.ts";
import { createModelError } from "./model_error.ts";
import { callOverTransport, type ModelFetch, type TransportOptions } from "./model_transport.ts";
import { OfferedFunctions } from "./offered_functions.ts";
import { SDK_TIMEOUT_MS } from "./sdk_timeout.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";

/** Implements the Messages API of Anthropic or a compatible server at the endpoint's base URL. */
export function createAnthropicAdapter(
  endpoint: ModelEndpoint,
  options: TransportOptions = {},
): ModelAdapter {
  return {
    generate: (request, asked) =>
      callOverTransport(endpoint, options, asked, async (transport) => {
        const { signal, onDelta } = asked;
        const messages: MessagesClient = new Messages(createClient(endpoint, transport.fetch));
        const functions = new OfferedFunctions(request, "anthropic");
        const output = nativeOutput(request);
        const body = toMessagesRequest(request, functions, output);
        const deltas = new AnswerDeltas({ request, onDelta, isDocument: output !== null });
        const reader = new AnthropicAnswerReader(endpoint, deltas);
        let asking: typeof body | null = body;
        for (let pauses = 0; asking !== null; pauses++) {
          if (pauses > MAX_PAUSES) throw pausedTooOften(endpoint);
          await messages.create({ ...asking, stream: transport.isStreamed }, { signal });
          await transport.read(reader);
          asking = resumed(body, reader);
        }
        return fromNativeOutput(functions.toOriginal(reader.finish()), output);
      }),
  };
}

/** The bundled client has only this method; see `scripts/vendor/unused_anthropic_code.ts`. */
type MessagesClient = Pick<Messages, "create">;

/** Maximum pauses of one turn while the provider's own tools run. */
const MAX_PAUSES = 16;

type Body = ReturnType<typeof toMessagesRequest>;

/** The request that continues a paused turn; null if the turn has ended. */
function resumed(body: Body, reader: AnthropicAnswerReader): Body | null {
  const resumption = reader.resumption();
  if (resumption === null) return null;
  // The API accepts its own blocks unchanged.
  const content = resumption.content as unknown as Anthropic.ContentBlockParam[];
  return {
    ...body,
    messages: [...body.messages, { role: "assistant", content }],
    ...definedOnly({ container: resumption.container }),
  };
}

function pausedTooOften(endpoint: ModelEndpoint): SwarmError {
  return createModelError(endpoint, {
    code: "MODEL_OUTPUT_INVALID",
    message: `it paused its turn more than ${MAX_PAUSES} times`,
  });
}

/** All options are explicit, so that no environment variable or profile of the SDK applies. */
function createClient(endpoint: ModelEndpoint, fetch: ModelFetch): BaseAnthropic {
  return new BaseAnthropic({
    apiKey: endpoint.apiKey ?? "none",
    webhookKey: null,
    // The SDK adds the version itself, but operators often include it.
    baseURL: (endpoint.baseUrl ?? "https://api.anthropic.com").replace(/(\/v1)?\/?$/, ""),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
    fetch,
  });
}
