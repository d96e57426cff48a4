import type { ModelRequest } from "./model_port.ts";

/** Typical for English. */
export const CHARS_PER_TOKEN = 4;

/** Estimates the tokens of a prompt from the length of its texts. */
export function estimatedInputTokens(
  { system, messages }: Pick<ModelRequest, "system" | "messages">,
): number {
  const characters = messages.reduce((sum, { text }) => sum + text.length, system.length);
  return Math.ceil(characters / CHARS_PER_TOKEN);
}
