import { estimatedFileTokens } from "./file_tokens.ts";
import { filesOf, type ModelApi, type ModelRequest } from "./model_port.ts";

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

/** Estimates the tokens of a prompt from the length of its texts and from its files. */
export function estimatedInputTokens(
  { system, messages }: Pick<ModelRequest, "system" | "messages">,
  api: ModelApi,
): number {
  const characters = messages.reduce((sum, { text }) => sum + text.length, system.length);
  const facts = messages.flatMap(filesOf).flatMap((file) => file.facts ?? []);
  const fileTokens = facts.reduce((sum, file) => sum + estimatedFileTokens(file, api), 0);
  return Math.ceil(characters / CHARS_PER_TOKEN) + fileTokens;
}
