import type { JsonObject } from "../json.ts";
import { createRedactor, type Redactor } from "../secrets/redact.ts";
import type { ModelResponse } from "./model_port.ts";

/** Removes the key from an answer: a server that echoes requests would have it stored. */
export function redactResponse(response: ModelResponse, key: string): ModelResponse {
  const redactor = createRedactor([key]);
  const { text, tool_calls: toolCalls, provider_data: providerData } = response;
  return {
    ...response,
    text: redactor.text(text),
    tool_calls: toolCalls.map((call) => ({
      call_id: redactor.text(call.call_id),
      name: redactor.text(call.name),
      arguments: call.arguments === null ? null : redactObject(call.arguments, redactor),
      ...(call.malformed === undefined ? {} : { malformed: redactor.text(call.malformed) }),
    })),
    ...(providerData === undefined ? {} : { provider_data: redactor.json(providerData) }),
  };
}

/** Streamed text without the key, also where the key comes in pieces. */
export interface DeltaRedactor {
  push(text: string): void;
  /** Passes on what was held back. */
  end(): void;
}

/** Makes a redactor that passes text on at once, but for an end that may begin any form of the key. */
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

function redactObject(object: JsonObject, redactor: Redactor): JsonObject {
  const entries = Object.entries(object);
  return Object.fromEntries(
    entries.map(([name, value]) => [redactor.text(name), redactor.json(value)]),
  );
}
