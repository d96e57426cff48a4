import { estimatedFileTokens } from "../../models/llm/file_tokens.ts";
import {
  filesOf,
  type ModelApi,
  type ModelMessage,
  type ModelTool,
} from "../../models/llm/model_port.ts";

/** English has about four bytes per token, JSON and other scripts about three. */
const BYTES_PER_TOKEN = 3.5;
/** Overhead of roles, separators and the envelope of a call. */
const TOKENS_PER_MESSAGE = 8;

/** The parts of a prompt that the estimate uses. */
export interface MeasuredPrompt {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Providers count files differently. @default anthropic, which counts the most */
  readonly api?: ModelApi;
}

/** Estimates how many tokens a prompt has; errs on the high side. */
export function estimatePromptTokens(
  { system, messages, tools, api = "anthropic" }: MeasuredPrompt,
): number {
  const toolBytes = tools.reduce((sum, tool) => sum + toolBytesOf(tool), 0);
  const messageTokens = messages.reduce((sum, message) => sum + messageTokensOf(message, api), 0);
  return Math.ceil((utf8Length(system) + toolBytes) / BYTES_PER_TOKEN) + messageTokens;
}

/** By tool, because every prompt of every task offers the same system tools. */
const knownToolBytes = new WeakMap<ModelTool, number>();

function toolBytesOf(tool: ModelTool): number {
  const known = knownToolBytes.get(tool);
  if (known !== undefined) return known;
  const bytes = utf8Length(JSON.stringify(tool));
  knownToolBytes.set(tool, bytes);
  return bytes;
}

function messageTokensOf(message: ModelMessage, api: ModelApi): number {
  // The provider's data repeats the text and the calls.
  const bytes = message.role === "assistant"
    ? message.provider_data === undefined
      ? utf8Length(message.text) +
        (message.tool_calls.length === 0 ? 0 : utf8Length(JSON.stringify(message.tool_calls)))
      : utf8Length(JSON.stringify(message.provider_data))
    : utf8Length(message.text);
  const fileTokens = filesOf(message).flatMap(({ facts }) => facts ?? [])
    .reduce((sum, facts) => sum + estimatedFileTokens(facts, api), 0);
  return Math.ceil(bytes / BYTES_PER_TOKEN) + fileTokens + TOKENS_PER_MESSAGE;
}

/** The UTF-8 length of a text in bytes, without encoding it. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a surrogate pair is two of its four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
