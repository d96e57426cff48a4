import { byteLength } from "../../platform/values/byte_length.ts";
import { estimatedFileTokens } from "./file_tokens.ts";
import { filesOf, type ModelApi, type ModelMessage, type ModelRequest } from "./model_port.ts";

/** Typical for English. */
export const CHARS_PER_TOKEN = 4;

/** Typical output rate of models; for a call without any output yet. */
const TOKENS_PER_SECOND = 50;

/** Estimates the tokens of an answer that was cut off, from the received part or from its time. */
export function estimatedOutputTokens(
  { receivedChars, seconds, maxTokens }: {
    readonly receivedChars: number;
    readonly seconds: number;
    readonly maxTokens: number | null;
  },
): number {
  const written = receivedChars > 0 ? receivedChars / CHARS_PER_TOKEN : seconds * TOKENS_PER_SECOND;
  return Math.ceil(Math.min(written, maxTokens ?? Infinity));
}

/** Estimates the tokens of a prompt from its texts, calls, tools and files. */
export function estimatedInputTokens(
  { system, messages, tools, output }: Pick<
    ModelRequest,
    "system" | "messages" | "tools" | "output"
  >,
  api: ModelApi,
): number {
  const definitions = [...tools, ...(output === undefined ? [] : [output.schema])];
  const characters = messages.reduce(
    (sum, message) => sum + weightOf(message.text) + callsWeight(message),
    weightOf(system) + jsonWeight(definitions),
  );
  const facts = messages.flatMap(filesOf).flatMap((file) => file.facts ?? []);
  const fileTokens = facts.reduce((sum, file) => sum + estimatedFileTokens(file, api), 0);
  return Math.ceil(characters / CHARS_PER_TOKEN) + fileTokens;
}

function callsWeight(message: ModelMessage): number {
  return message.role === "assistant" ? jsonWeight(message.tool_calls) : 0;
}

/** Without the brackets of an empty list. */
function jsonWeight(list: readonly unknown[]): number {
  return list.length === 0 ? 0 : weightOf(JSON.stringify(list));
}

/**
 * Characters of English with as many tokens: other scripts have about one token for each character,
 * and two or three bytes.
 */
function weightOf(text: string): number {
  const bytes = byteLength(text);
  return text.length + (bytes - text.length) * CHARS_PER_TOKEN / 2;
}
