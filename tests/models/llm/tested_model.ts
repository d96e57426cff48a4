import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type { ModelRequest, ModelResponse } from "../../../shared/models/llm/model_port.ts";
import type { TransportOptions } from "../../../shared/models/llm/model_transport.ts";
import type { WireFormat } from "./wire_format.ts";

/** The key of every test call; recognizable, so that a leak is found. */
export const TEST_KEY = "sk-canary-5f1d7c0a93";

export interface CallOptions extends TransportOptions {
  readonly signal?: AbortSignal;
  readonly onDelta?: (text: string) => void;
  /** Null if the provider requires none. @default TEST_KEY */
  readonly apiKey?: string | null;
}

/** A request without particular content. */
export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [{ role: "user", text: "Hello" }] as const;
  return { model: "test-model", system: "Be brief.", messages, tools: [], ...changes };
}

/** A tool with one numeric argument. */
export const ADD_TOOL = {
  name: "add",
  description: "Adds to the sum.",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
};

/** Calls the model at `origin` through the adapter for this wire format. */
export async function call(
  format: WireFormat,
  origin: string,
  modelRequest: ModelRequest = request(),
  options: CallOptions = {},
): Promise<ModelResponse> {
  const { signal = new AbortController().signal, onDelta, apiKey = TEST_KEY, ...transport } =
    options;
  const adapter = await createModelAdapter({
    api: format.api,
    providerName: "acme",
    baseUrl: format.baseUrl(origin),
    apiKey,
  }, transport);
  return adapter.generate(modelRequest, { signal, ...definedOnly({ onDelta }) });
}
