import { estimatedFileTokens } from "../file_tokens.ts";
import { filesOf, type ModelApi, type ModelRequest } from "./model_port.ts";

/** As models count English. */
export const CHARS_PER_TOKEN = 4;

/**
 * What a prompt probably has, by the length of its texts and what its files are expected to take.
 */
export function estimatedInputTokens(
  { system, messages }: Pick<ModelRequest, "system" | "messages">,
  api: ModelApi,
): number {
  const characters = messages.reduce((sum, { text }) => sum + text.length, system.length);
  const facts = messages.flatMap(filesOf).flatMap((file) => file.facts ?? []);
  const fileTokens = facts.reduce((sum, file) => sum + estimatedFileTokens(file, api), 0);
  return Math.ceil(characters / CHARS_PER_TOKEN) + fileTokens;
}
