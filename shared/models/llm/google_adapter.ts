import { GoogleGenAI } from "../../vendor/google_genai.js";
import { GoogleAnswerReader } from "./google_answer.ts";
import { toContentRequest } from "./google_contents.ts";
import type { ModelAdapter, ModelEndpoint, ModelRequest } from "./model_port.ts";
import { AnswerDeltas } from "./answer_deltas.ts";
import { fromNativeOutput, nativeOutput } from "./native_output.ts";
import { callOverTransport, type ModelFetch, type TransportOptions } from "./model_transport.ts";
import { OfferedFunctions } from "./offered_functions.ts";

/** Implements the Gemini API (`v1beta`) at Google or at the endpoint's base URL. */
export function createGoogleAdapter(
  endpoint: ModelEndpoint,
  options: TransportOptions = {},
): ModelAdapter {
  return {
    generate: (request, asked) =>
      callOverTransport(endpoint, options, asked, async (transport) => {
        const { signal, onDelta } = asked;
        const { models } = createClient(endpoint, transport.fetch);
        const functions = new OfferedFunctions(request, "gemini");
        const takesForm = functions.definitions.length === 0 || takesFormBesideTools(request);
        const output = takesForm ? nativeOutput(request) : null;
        const body = toContentRequest(request, { functions, output, signal });
        const deltas = new AnswerDeltas({ request, onDelta, isDocument: output !== null });
        const reader = new GoogleAnswerReader(endpoint, deltas);
        await (transport.isStreamed
          ? models.generateContentStream(body)
          : models.generateContent(body));
        await transport.read(reader);
        return fromNativeOutput(functions.toOriginal(reader.finish()), output);
      }),
  };
}

/** Gemini takes an answer schema beside functions since version 3, and still calls them. */
function takesFormBesideTools({ model }: ModelRequest): boolean {
  return !/\bgemini-[12]\b/.test(model);
}

/** The bundled client has only this module; see `scripts/vendor/unused_code.ts`. */
type GoogleClient = Pick<GoogleGenAI, "models">;

function createClient(endpoint: ModelEndpoint, fetch: ModelFetch): GoogleClient {
  const baseUrl = endpoint.baseUrl ?? "https://generativelanguage.googleapis.com";
  return new GoogleGenAI({
    apiKey: endpoint.apiKey ?? "none",
    vertexai: false,
    // Function schemas as JSON Schema exist in v1beta only, whatever the SDK's default is.
    apiVersion: "v1beta",
    httpOptions: {
      apiVersion: "v1beta",
      // The SDK adds the version itself, but operators often include it.
      baseUrl: baseUrl.replace(/(\/v1(beta)?)?\/?$/, ""),
      fetch,
    },
  });
}
