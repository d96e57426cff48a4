import { z } from "../../vendor/zod.js";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import type { FunctionDefinition } from "../tool_schemas/function_definition.ts";
import { toGeminiFunction } from "../tool_schemas/wire_function.ts";
import type {
  Content,
  GenerateContentParameters,
  Part,
  ThinkingConfig,
  ThinkingLevel,
} from "../../vendor/google_genai.js";
import { type FilePart, filePartsOf, resultPartsOf } from "./file_parts.ts";
import type { ModelMessage, ModelRequest, ModelToolCall } from "./model_port.ts";
import type { OfferedFunctions } from "./offered_functions.ts";

/** A part of an answer as it is sent back: the fields with a known form, and the rest unchanged. */
const partSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z.looseObject({
    id: z.string().optional(),
    name: z.string().optional(),
    args: jsonObject.optional(),
  }).optional(),
  executableCode: z.looseObject({ code: z.string().optional() }).optional(),
  codeExecutionResult: z.looseObject({ output: z.string().optional() }).optional(),
});

const providerDataSchema = z.object({ api: z.literal("google"), parts: z.array(partSchema) });

/**
 * Keeps an answer's parts for the next request if they are signed or belong to the API's own tools
 * (the API requires those unchanged and in order), or if the API assigned ids to its calls;
 * undefined otherwise.
 */
export function toGoogleData(parts: readonly JsonObject[]): JsonValue | undefined {
  return parts.some(mustReturn) ? { api: "google", parts } : undefined;
}

function mustReturn(
  { text: _text, thought: _thought, functionCall, ...rest }: JsonObject,
): boolean {
  return asJsonObject(functionCall).id !== undefined || Object.keys(rest).length > 0;
}

/** The inputs of a request. */
export interface ContentRequestParts {
  readonly functions: OfferedFunctions;
  /** The schema of the answer; null for none. */
  readonly output: FunctionDefinition | null;
  readonly signal: AbortSignal;
}

/** Writes a request in the generateContent format. */
export function toContentRequest(
  request: ModelRequest,
  { functions, output, signal }: ContentRequestParts,
): GenerateContentParameters {
  const { model, system, temperature, maxOutputTokens, providerTools = [] } = request;
  const functionDeclarations = functions.definitions.map(toGeminiFunction);
  const tools = [
    ...(functionDeclarations.length === 0 ? [] : [{ functionDeclarations }]),
    ...providerTools.map((tool) => PROVIDER_TOOLS[tool]),
  ];
  // The API requires this for requests with both kinds of tools.
  const isMixed = functionDeclarations.length > 0 && providerTools.length > 0;
  return {
    model,
    contents: toContents(request, functions),
    config: {
      abortSignal: signal,
      ...(system === "" ? {} : { systemInstruction: system }),
      ...(tools.length === 0 ? {} : { tools }),
      ...(isMixed ? { toolConfig: { includeServerSideToolInvocations: true } } : {}),
      ...toThinking(request),
      ...(output === null ? {} : {
        responseMimeType: "application/json",
        responseJsonSchema: output.parameters,
      }),
      ...definedOnly({ temperature, maxOutputTokens }),
    },
  };
}

const PROVIDER_TOOLS = { web_search: { googleSearch: {} }, code_execution: { codeExecution: {} } };

/** The only levels that the model supports. */
const LEVELS = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
} as const;

/** In tokens, for models without levels. */
const BUDGETS = {
  none: 0,
  minimal: 512,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
} as const;

function toThinking({ reasoningEffort: effort, hasReasoningBudget }: ModelRequest): {
  thinkingConfig?: ThinkingConfig;
} {
  if (effort === undefined) return {};
  const includeThoughts = effort !== "none";
  if (hasReasoningBudget) {
    return { thinkingConfig: { includeThoughts, thinkingBudget: BUDGETS[effort] } };
  }
  const thinkingLevel = LEVELS[effort] as ThinkingLevel;
  return { thinkingConfig: { includeThoughts, thinkingLevel } };
}

/** The results of one turn's calls go into one content, in call order. */
function toContents(request: ModelRequest, functions: OfferedFunctions): Content[] {
  const { messages, marksForeignCalls = false } = request;
  const givenIds = new Set(messages.flatMap(idsGivenByTheApi));
  const contents: { role: string; parts: Part[]; isResults: boolean }[] = [];
  for (const message of messages) {
    const isResults = message.role === "tool";
    const parts = toParts(message, { givenIds, functions, marksForeignCalls });
    const last = contents.at(-1);
    if (parts.length === 0) continue;
    if (isResults && last?.isResults) last.parts.push(...parts);
    else contents.push({ role: message.role === "assistant" ? "model" : "user", parts, isResults });
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

interface PartWriting {
  readonly givenIds: ReadonlySet<string>;
  readonly functions: OfferedFunctions;
  readonly marksForeignCalls: boolean;
}

function toParts(
  message: ModelMessage,
  { givenIds, functions, marksForeignCalls }: PartWriting,
): Part[] {
  switch (message.role) {
    case "user":
      return [
        ...filePartsOf(message, TAKEN_FILES).map(toFilePart),
        ...toTextParts(message.text),
      ];
    case "tool": {
      const { text, files } = resultPartsOf(message, TAKEN_FILES);
      return [
        {
          functionResponse: {
            name: message.name,
            response: { [message.is_error ? "error" : "output"]: text },
            // The API does not know ids generated here: it then matches by order.
            ...(givenIds.has(message.call_id) ? { id: message.call_id } : {}),
          },
        },
        // Only the newest models accept files inside a response. All accept them beside it.
        ...files.map(toFilePart),
      ];
    }
    case "assistant":
      return keptParts(message.provider_data) ??
        [
          ...toTextParts(message.text),
          ...message.tool_calls.map((call, index) => ({
            ...toCallPart(functions.toProvided(call)),
            // The API signs the first call of a turn.
            ...(marksForeignCalls && index === 0 ? { thoughtSignature: UNSIGNED } : {}),
          })),
        ];
  }
}

/** A value that the API accepts instead of a signature for calls of another model. */
const UNSIGNED = "skip_thought_signature_validator";

const TAKEN_FILES = ["image/png", "image/jpeg", "image/webp", "application/pdf"];

function toFilePart({ mediaType, base64 }: FilePart): Part {
  return { inlineData: { mimeType: mediaType, data: base64 } };
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
  // Zod's optional keys may be undefined, which the wire format omits.
  return kept.success ? JSON.parse(JSON.stringify(kept.data.parts)) : undefined;
}
