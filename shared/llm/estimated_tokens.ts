import type { ModelRequest } from "./model_port.ts";

/** As models count English. */
export const CHARS_PER_TOKEN = 4;

/** What a prompt probably has, by the length of its texts. */
export function estimatedInputTokens(
  { system, messages }: Pick<ModelRequest, "system" | "messages">,
): number {
  const characters = messages.reduce((sum, { text }) => sum + text.length, system.length);
  return Math.ceil(characters / CHARS_PER_TOKEN);
}
