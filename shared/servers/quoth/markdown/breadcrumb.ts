import { estimateTextTokens } from "./token_meter.ts";

const SEPARATOR = " > ";
/** The breadcrumb's maximum share of a chunk: the rest of the embedder's window is for the text. */
const BREADCRUMB_SHARE = 1 / 6;

/**
 * The path to a chunk in one line, such as `Guide > Install > On Linux`. A path that is too long
 * loses its middle, then its end.
 */
export function toBreadcrumb(headingPath: readonly string[], maxTokens: number): string {
  const limit = Math.floor(maxTokens * BREADCRUMB_SHARE);
  const steps = [...headingPath];
  while (steps.length > 2 && estimateTextTokens(steps.join(SEPARATOR)) > limit) steps.splice(1, 1);
  const line = steps.join(SEPARATOR);
  if (estimateTextTokens(line) <= limit) return line;
  const characters = [...line];
  while (estimateTextTokens(characters.join("")) >= limit) {
    characters.length -= Math.ceil(characters.length / 10);
  }
  return `${characters.join("").trimEnd()}…`;
}
