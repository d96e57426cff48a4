import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { toOpenAiFunction } from "../tool_schemas/wire_function.ts";
import type { OpenAI } from "../../vendor/openai.js";
import { z } from "../../vendor/zod.js";
import type { ModelMessage, ModelRequest, ReasoningEffort } from "./model_port.ts";
import { type FilePart, filePartsOf, resultPartsOf, toDataUrl } from "./file_parts.ts";
import { type ChatRequestParts, isOpenAiItself, OPENAI_FILES } from "./openai_messages.ts";
import type { OfferedFunctions } from "./offered_functions.ts";

type Item = OpenAI.Responses.ResponseInputItem;
type ResponsesRequest = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">;

const providerDataSchema = z.object({
  api: z.literal("openai_responses"),
  items: z.array(jsonObject),
});

/**
 * Keeps an answer's items for the next request if they include encrypted reasoning or the
 * provider's own tools, which the API requires unchanged and in order; undefined otherwise.
 */
export function toResponsesData(items: readonly JsonObject[]): JsonValue | undefined {
  const isPlain = ({ type }: JsonObject) => type === "message" || type === "function_call";
  return items.every(isPlain) ? undefined : { api: "openai_responses", items };
}

/**
 * Writes a request in the Responses format. The API stores nothing: the transcript is kept here.
 */
export function toResponsesRequest(
  request: ModelRequest,
  { functions, output, endpoint }: ChatRequestParts,
): ResponsesRequest {
  const { model, system, messages, temperature, maxOutputTokens, reasoningEffort } = request;
  const tools = [
    ...functions.definitions.map((definition) => {
      const { function: { strict, parameters, ...named } } = toOpenAiFunction(definition);
      const mode = request.hasBasicTools === true ? false : strict;
      return { type: "function" as const, ...named, parameters: { ...parameters }, strict: mode };
    }),
    ...(request.providerTools ?? []).map((tool) => PROVIDER_TOOLS[tool]),
  ];
  const cacheKey = isOpenAiItself(endpoint) ? request.cacheKey : undefined;
  return {
    model,
    input: messages.flatMap((message) => toItems(message, functions)),
    store: false,
    ...(system === "" ? {} : { instructions: system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(reasoningEffort === undefined ? {} : { reasoning: toReasoning(reasoningEffort) }),
    include: includedOf(request),
    ...(output === null ? {} : {
      text: {
        format: {
          type: "json_schema",
          name: output.name,
          schema: { ...output.parameters },
          strict: true,
        },
      },
    }),
    ...definedOnly({
      temperature,
      max_output_tokens: maxOutputTokens,
      prompt_cache_key: cacheKey,
    }),
  };
}

function toReasoning(effort: ReasoningEffort): OpenAI.Reasoning {
  return effort === "none" ? { effort } : { effort, summary: "auto" };
}

/** Parts that the API includes in its answers only on request. */
function includedOf(
  { providerTools = [], keepsNoReasoning = false }: ModelRequest,
): OpenAI.Responses.ResponseIncludable[] {
  return [
    ...(keepsNoReasoning ? [] : ["reasoning.encrypted_content" as const]),
    ...(providerTools.includes("code_execution") ? ["code_interpreter_call.outputs" as const] : []),
  ];
}

const PROVIDER_TOOLS = {
  web_search: { type: "web_search" },
  code_execution: { type: "code_interpreter", container: { type: "auto" } },
} as const;

function toFileInput(
  file: FilePart,
): OpenAI.Responses.ResponseInputFile | OpenAI.Responses.ResponseInputImage {
  const url = toDataUrl(file);
  return file.mediaType === "application/pdf"
    ? { type: "input_file", filename: file.name, file_data: url }
    : { type: "input_image", image_url: url, detail: "auto" };
}

function toItems(message: ModelMessage, functions: OfferedFunctions): Item[] {
  switch (message.role) {
    case "user": {
      const files = filePartsOf(message, OPENAI_FILES);
      if (files.length === 0) return [{ role: "user", content: message.text }];
      const text = { type: "input_text" as const, text: message.text };
      return [{ role: "user", content: [...files.map(toFileInput), text] }];
    }
    case "tool": {
      const { text, files } = resultPartsOf(message, OPENAI_FILES);
      const output = files.length === 0
        ? text
        : [{ type: "input_text" as const, text }, ...files.map(toFileInput)];
      return [{ type: "function_call_output", call_id: message.call_id, output }];
    }
    case "assistant": {
      const kept = providerDataSchema.safeParse(message.provider_data);
      // The API accepts its own items unchanged.
      if (kept.success) return kept.data.items as unknown as Item[];
      const text: Item[] = message.text === ""
        ? []
        : [{ role: "assistant", content: message.text }];
      return [
        ...text,
        ...message.tool_calls.map((made) => functions.toProvided(made)).map((call): Item => ({
          type: "function_call",
          call_id: call.call_id,
          name: call.name,
          arguments: JSON.stringify(call.arguments ?? {}),
        })),
      ];
    }
  }
}
