import type { JsonObject } from "../../platform/values/json.ts";
import { createRedactor, type Redactor } from "../../platform/secrets/redact.ts";
import type { ModelResponse } from "./model_port.ts";

type ModelToolCall = ModelResponse["tool_calls"][number];

/**
 * Removes the key from an answer, because a server may echo the request and the answer is stored.
 */
export async function redactResponse(response: ModelResponse, key: string): Promise<ModelResponse> {
  const redactor = createRedactor([key]);
  const { text, tool_calls: toolCalls, provider_data: providerData } = response;
  const { reasoning, provider_tool_calls: providerCalls } = response;
  return {
    ...response,
    text: await redactor.textInTurns(text),
    tool_calls: await Promise.all(toolCalls.map((call) => redactCall(call, redactor))),
    ...(reasoning === undefined ? {} : { reasoning: await redactor.textInTurns(reasoning) }),
    ...(providerCalls === undefined ? {} : {
      provider_tool_calls: await Promise.all(
        providerCalls.map(async ({ name, input, output }) => ({
          name,
          input: await redactor.jsonInTurns(input),
          output: await redactor.jsonInTurns(output),
        })),
      ),
    }),
    ...(providerData === undefined
      ? {}
      : { provider_data: await redactor.jsonInTurns(providerData) }),
  };
}

/** Streamed text without the key, even if the key is split across chunks. */
export interface DeltaRedactor {
  push(text: string): void;
  /** Passes on what was held back. */
  end(): void;
}

/**
 * Creates a redactor that passes text on immediately, except for a suffix that may be the start of
 * the key.
 */
export function createDeltaRedactor(key: string, emit: (text: string) => void): DeltaRedactor {
  const redactor = createRedactor([key]);
  let held = "";
  const pass = (text: string) => text === "" ? undefined : emit(text);
  return {
    push(text) {
      const pending = redactor.text(held + text);
      const safeLength = redactor.findBeginning(pending);
      held = pending.slice(safeLength);
      pass(pending.slice(0, safeLength));
    },
    end() {
      pass(held);
      held = "";
    },
  };
}

async function redactCall(
  { call_id: callId, name, arguments: args, malformed, malformed_reason: reason }: ModelToolCall,
  redactor: Redactor,
): Promise<ModelToolCall> {
  return {
    call_id: redactor.text(callId),
    name: redactor.text(name),
    arguments: args === null ? null : await redactor.jsonInTurns(args) as JsonObject,
    ...(malformed === undefined ? {} : { malformed: await redactor.textInTurns(malformed) }),
    ...(reason === undefined ? {} : { malformed_reason: redactor.text(reason) }),
  };
}
