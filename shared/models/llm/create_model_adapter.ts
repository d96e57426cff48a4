import type { ModelAdapter, ModelEndpoint } from "./model_port.ts";
import type { TransportOptions } from "./model_transport.ts";

/**
 * Creates the adapter for the endpoint's wire format.
 *
 * Each SDK costs some 20 ms of CPU time and 10 to 16 MB, so it is imported on first use.
 */
export async function createModelAdapter(
  endpoint: ModelEndpoint,
  options: TransportOptions = {},
): Promise<ModelAdapter> {
  switch (endpoint.api) {
    case "openai": {
      const { createOpenAiAdapter } = await import("./openai_adapter.ts");
      return createOpenAiAdapter(endpoint, options);
    }
    case "anthropic": {
      const { createAnthropicAdapter } = await import("./anthropic_adapter.ts");
      return createAnthropicAdapter(endpoint, options);
    }
    case "google": {
      const { createGoogleAdapter } = await import("./google_adapter.ts");
      return createGoogleAdapter(endpoint, options);
    }
  }
}
