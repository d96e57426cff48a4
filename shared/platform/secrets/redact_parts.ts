import { decodeLetters } from "./escaped_letters.ts";

/** The replacement for a secret. */
export const REDACTED = "[redacted]";

/** Characters of a text that are searched in one step. */
const PART_CHARACTERS = 65_536;
/** Characters before a part that its patterns also read: an escape that starts there. */
const CONTEXT_CHARACTERS = 64;

/** The search patterns. */
export interface SecretPatterns {
  /** With the flag `g`. */
  readonly whole: RegExp;
  /** Maximum length of any form of a secret. */
  readonly longestForm: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces the secrets in a text, one part per step. A part is searched together with the following
 * text, so that a secret is found wherever it starts.
 *
 * @param maxCharacters The result may end early at this length. @default the full text
 */
export function* redactParts(
  value: string,
  patterns: SecretPatterns,
  maxCharacters: number = Infinity,
): Generator<void, string> {
  const partLength = Math.max(PART_CHARACTERS, 2 * patterns.longestForm);
  let text = "";
  let place = 0;
  while (place < value.length && text.length < maxCharacters) {
    const end = Math.min(place + partLength, value.length);
    const from = Math.max(0, place - CONTEXT_CHARACTERS);
    const searched = value.slice(from, end + patterns.longestForm);
    const { found, copiedTo } = redactPart(
      searched,
      { start: place - from, end: end - from },
      patterns,
    );
    text += found;
    place = from + copiedTo;
    yield;
  }
  return text;
}

/** Redacts the secrets that start within a part; the last one may end after it. */
function redactPart(text: string, part: Range, patterns: SecretPatterns) {
  let found = "";
  let copiedTo = part.start;
  for (const { start, end } of rangesIn(text, patterns)) {
    if (start < part.start) continue;
    if (start >= part.end) break;
    if (end <= copiedTo) continue;
    if (start >= copiedTo) found += text.slice(copiedTo, start) + REDACTED;
    copiedTo = end;
  }
  if (copiedTo < part.end) {
    found += text.slice(copiedTo, part.end);
    copiedTo = part.end;
  }
  return { found, copiedTo };
}

/** The positions of secrets, in the original text and in the text with decoded letters. */
function rangesIn(text: string, { whole }: SecretPatterns): Range[] {
  const ranges = Array.from(
    text.matchAll(whole),
    ({ index, 0: { length } }) => ({ start: index, end: index + length }),
  );
  const decoded = decodeLetters(text);
  if (decoded === null) return ranges;
  for (const { index, 0: { length } } of decoded.text.matchAll(whole)) {
    ranges.push({
      start: decoded.originalPlace(index),
      end: decoded.originalPlace(index + length),
    });
  }
  return ranges.sort((a, b) => a.start - b.start || b.end - a.end);
}
