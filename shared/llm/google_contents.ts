import { z } from "../vendor/zod.js";
import { definedOnly } from "../defined_only.ts";
import type { JsonValue } from "../json.ts";
import { jsonObject } from "../json_schema.ts";
import type { FunctionDefinition } from "../tool_schemas/function_definition.ts";
import { toGeminiFunction } from "../tool_schemas/wire_function.ts";
import type { Content, GenerateContentParameters, Part } from "../vendor/google_genai.js";
import type { ModelMessage, ModelRequest, ModelToolCall } from "./model_port.ts";
import type { OfferedFunctions } from "./offered_functions.ts";

/** A part of an answer, as far as we read it. */
export const partSchema = z.object({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z.object({
    id: z.string().optional(),
    name: z.string().optional(),
    args: jsonObject.optional(),
  }).optional(),
});

/** A part of an answer, as far as we read it. */
export type AnswerPart = z.infer<typeof partSchema>;

const providerDataSchema = z.object({ api: z.literal("google"), parts: z.array(partSchema) });

/**
 * Keeps an answer's parts for the next request when they are signed (the API then wants them
 * back unchanged and in their place) or when the API gave its calls ids; undefined otherwise.
 */
export function toProviderData(parts: readonly AnswerPart[]): JsonValue | undefined {
  const mustReturn = (part: AnswerPart) => part.thoughtSignature ?? part.functionCall?.id;
  if (!parts.some(mustReturn)) return undefined;
  const data: z.input<typeof providerDataSchema> = { api: "google", parts: [...parts] };
  return JSON.parse(JSON.stringify(data));
}

/** What a request is written with. */
export interface ContentRequestParts {
  readonly functions: OfferedFunctions;
  /** The form of the answer; null asks for none. */
  readonly output: FunctionDefinition | null;
  readonly signal: AbortSignal;
}

/** Writes a request in the generateContent format. */
export function toContentRequest(
  request: ModelRequest,
  { functions, output, signal }: ContentRequestParts,
): GenerateContentParameters {
  const { model, system, messages, temperature, maxOutputTokens } = request;
  const functionDeclarations = functions.definitions.map(toGeminiFunction);
  return {
    model,
    contents: toContents(messages, functions),
    config: {
      abortSignal: signal,
      ...(system === "" ? {} : { systemInstruction: system }),
      ...(functionDeclarations.length === 0 ? {} : { tools: [{ functionDeclarations }] }),
      ...(output === null ? {} : {
        responseMimeType: "application/json",
        responseJsonSchema: output.parameters,
      }),
      ...definedOnly({ temperature, maxOutputTokens }),
    },
  };
}

/** The results of one turn's calls stand in one content, in the order of the calls. */
function toContents(messages: readonly ModelMessage[], functions: OfferedFunctions): Content[] {
  const givenIds = new Set(messages.flatMap(idsGivenByTheApi));
  const contents: { role: string; parts: Part[]; isResults: boolean }[] = [];
  for (const message of messages) {
    const isResults = message.role === "tool";
    const parts = toParts(message, givenIds, functions);
    const last = contents.at(-1);
    if (parts.length === 0) continue;
    if (isResults && last?.isResults) last.parts.push(...parts);
    else contents.push({ role: message.role === "assistant" ? "model" : "user", parts, isResults });
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

function toParts(
  message: ModelMessage,
  givenIds: ReadonlySet<string>,
  functions: OfferedFunctions,
): Part[] {
  switch (message.role) {
    case "user":
      return toTextParts(message.text);
    case "tool":
      return [{
        functionResponse: {
          name: message.name,
          response: { [message.is_error ? "error" : "output"]: message.text },
          // Ids that we made mean nothing to the API: it then matches by order.
          ...(givenIds.has(message.call_id) ? { id: message.call_id } : {}),
        },
      }];
    case "assistant":
      return keptParts(message.provider_data) ??
        [
          ...toTextParts(message.text),
          ...message.tool_calls.map((call) => toCallPart(functions.toProvided(call))),
        ];
  }
}

function toTextParts(text: string): Part[] {
  return text === "" ? [] : [{ text }];
}

function toCallPart(call: ModelToolCall): Part {
  return { functionCall: { name: call.name, args: { ...call.arguments } } };
}

function idsGivenByTheApi(message: ModelMessage): string[] {
  if (message.role !== "assistant") return [];
  const parts = keptParts(message.provider_data) ?? [];
  return parts.flatMap((part) => part.functionCall?.id ?? []);
}

function keptParts(providerData: JsonValue | undefined): Part[] | undefined {
  const kept = providerDataSchema.safeParse(providerData);
  // Zod's optional keys may hold undefined, which the wire format leaves out.
  return kept.success ? JSON.parse(JSON.stringify(kept.data.parts)) : undefined;
}
