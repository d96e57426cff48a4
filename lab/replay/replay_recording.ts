import { createModelAdapter } from "../../shared/models/llm/create_model_adapter.ts";
import type {
  ModelApi,
  ModelEndpoint,
  ModelRequest,
  ModelResponse,
} from "../../shared/models/llm/model_port.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { type ExpectedAnswer, expectedAnswer } from "./expected_answer.ts";
import type { Recording } from "./recording.ts";

/** What became of a recording. */
export interface Outcome {
  readonly name: string;
  readonly provider: string;
  /** Why our adapter does not read it; null if it does. */
  readonly problem: string | null;
}

const APIS: Readonly<Record<Recording["form"], ModelApi>> = {
  chat: "openai",
  responses: "openai",
  anthropic: "anthropic",
  google: "google",
};

/**
 * Has an adapter read a recorded answer. It has to return the text and the calls of the recording,
 * and to report a recorded error, or a failure of the model, as what it is.
 */
export async function replayRecording(recording: Recording): Promise<Outcome> {
  const { name, provider } = recording;
  const expected = expectedAnswer(recording);
  try {
    const answer = await read(recording, expected?.calls ?? []);
    return { name, provider, problem: differenceOf(answer, expected) };
  } catch (error) {
    if (!(error instanceof SwarmError)) return { name, provider, problem: `not caught: ${error}` };
    const isRead = error.code !== "MODEL_OUTPUT_INVALID" ||
      error.message.includes("the model stopped with");
    if (expected === null && isRead) return { name, provider, problem: null };
    return { name, provider, problem: `${error.code}: ${error.message}` };
  }
}

async function read(recording: Recording, calls: readonly string[]): Promise<ModelResponse> {
  const { form, isStream } = recording;
  // A turn that the provider pauses is continued with another request.
  let due: Recording | undefined = recording;
  const endpoint: ModelEndpoint = {
    api: APIS[form],
    providerName: "recorded",
    // Not OpenAI's own address, which would choose the API by the request.
    baseUrl: "https://recorded.invalid/v1",
    apiKey: "recorded",
  };
  const adapter = await createModelAdapter(endpoint, {
    fetch: () => {
      const { status, body, isStream } = due ?? recording;
      due = due?.next;
      const headers = { "content-type": isStream ? "text/event-stream" : "application/json" };
      return Promise.resolve(new Response(body, { status, headers }));
    },
  });
  const request: ModelRequest = {
    model: "recorded",
    system: "",
    messages: [{ role: "user", text: "Go." }],
    tools: [...new Set(calls)].map((name) => ({
      name,
      description: "",
      inputSchema: { type: "object", additionalProperties: true },
    })),
    ...form === "responses" ? { needsResponses: true } : {},
  };
  const signal = new AbortController().signal;
  return await adapter.generate(request, { signal, ...isStream ? { onDelta: () => {} } : {} });
}

function differenceOf(answer: ModelResponse, expected: ExpectedAnswer | null): string | null {
  if (expected === null) return "an error is read as an answer";
  const calls = answer.tool_calls.map(({ name }) => name);
  if (JSON.stringify(calls) !== JSON.stringify(expected.calls)) return "other calls";
  if (answer.text !== expected.text) return "another text";
  return answer.tool_calls.some((call) => call.arguments === null) ? "unreadable arguments" : null;
}
