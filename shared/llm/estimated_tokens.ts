import { estimatedFileTokens } from "../file_tokens.ts";
import { filesOf, type ModelApi, type ModelRequest } from "./model_port.ts";

/** Typical for English. */
export const CHARS_PER_TOKEN = 4;

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
