import { exactNumbers } from "../../platform/json/exact_numbers.ts";
import { ANSWER_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import { type ContentBlock, textBlock } from "../../platform/values/content_block.ts";
import type { JsonValue } from "../../platform/values/json.ts";

/** What an answer says when its structure has numbers as text. */
export const NUMBERS_AS_TEXT =
  "numbers that programs would round are given as text in structuredContent";

/** A result as text and for programs. */
export interface ExactStructure {
  readonly structured?: JsonValue;
  /** Only if there is something to say beside the text. */
  readonly content?: readonly ContentBlock[];
}

/** The structure of a JSON text, with every number exact; empty if programs cannot read it. */
export function exactStructure(json: string): ExactStructure {
  const exact = exactNumbers(json);
  // A mislabeled or oversized result can still be read as text.
  const structured = parseJsonOrUndefined(exact.text, ANSWER_LIMITS);
  if (structured === undefined) return {};
  if (exact.count === 0) return { structured };
  return { structured, content: [textBlock(json), textBlock(`(Note: ${NUMBERS_AS_TEXT}.)`)] };
}
