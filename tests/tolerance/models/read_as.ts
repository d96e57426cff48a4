import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type {
  ModelApi,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from "../../../shared/models/llm/model_port.ts";
import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";

/** The formats of answers: OpenAI has two. */
export const WIRES = ["chat", "responses", "anthropic", "google"] as const;
/** One of {@linkcode WIRES}. */
export type Wire = (typeof WIRES)[number];

/** How an answer is sent. */
export interface SentAnswer {
  /** Text is sent as it is. */
  readonly body: JsonValue;
  /** @default application/json */
  readonly mediaType?: string;
  /** @default false */
  readonly isStreamAsked?: boolean;
}

const APIS: Readonly<Record<Wire, ModelApi>> = {
  chat: "openai",
  responses: "openai",
  anthropic: "anthropic",
  google: "google",
};

/** Has the adapter of the format read an answer. */
export async function readAs(
  wire: Wire,
  { body, mediaType = "application/json", isStreamAsked = false }: SentAnswer,
): Promise<ModelResponse> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = () => new Response(text, { headers: { "content-type": mediaType } });
  const { answered } = await ask(wire, { answer, isStreamAsked });
  return answered;
}

/** The request that follows an answer, with results for its calls. */
export async function requestAfter(wire: Wire, answered: ModelResponse): Promise<string> {
  const { text, tool_calls, provider_data } = answered;
  const messages: ModelMessage[] = [
    { role: "user", text: "Go." },
    { role: "assistant", text, tool_calls, ...definedOnly({ provider_data }) },
    ...tool_calls.map(({ call_id, name }): ModelMessage => ({
      role: "tool",
      call_id,
      name,
      text: "done",
      is_error: false,
    })),
  ];
  const answer = () => new Response("{}", { status: 500 });
  const { sent } = await ask(wire, { answer, messages });
  return sent;
}

interface Asked {
  readonly answer: () => Response;
  readonly isStreamAsked?: boolean;
  readonly messages?: readonly ModelMessage[];
}

async function ask(
  wire: Wire,
  { answer, isStreamAsked = false, messages = [{ role: "user", text: "Go." }] }: Asked,
): Promise<{ readonly answered: ModelResponse; readonly sent: string }> {
  let sent = "";
  const adapter = await createModelAdapter({
    api: APIS[wire],
    providerName: "acme",
    // Not OpenAI's own address, which would choose the format by the request.
    baseUrl: "https://models.invalid/v1",
    apiKey: "key",
  }, {
    fetch: (_, init) => {
      sent = String(init?.body);
      return Promise.resolve(answer());
    },
  });
  const request: ModelRequest = {
    model: "test-model",
    system: "",
    messages,
    tools: [],
    ...wire === "responses" ? { needsResponses: true } : {},
  };
  const asking = adapter.generate(request, {
    signal: new AbortController().signal,
    ...isStreamAsked ? { onDelta: () => {} } : {},
  });
  const answered = await asking.catch((error) => {
    if (messages.length > 1) return null;
    throw error;
  });
  return { answered: answered as ModelResponse, sent };
}

/** Server-sent events with these documents. */
export function eventsOf(documents: readonly JsonValue[]): string {
  return documents.map((document) => `data: ${JSON.stringify(document)}\n\n`).join("");
}
