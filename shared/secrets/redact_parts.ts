import { decodeLetters } from "./escaped_letters.ts";

/** What stands where a secret stood. */
export const REDACTED = "[redacted]";

/** Characters of a text that are searched in one step. */
const PART_CHARACTERS = 65_536;
/** Characters before a part that its patterns look at: an escape that begins there. */
const CONTEXT_CHARACTERS = 64;

/** What is searched for, and how. */
export interface SecretPatterns {
  /** With the flag `g`. */
  readonly whole: RegExp;
  /** No form of a secret is written with more characters. */
  readonly longestForm: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces the secrets in a text, a part in each step. A part is searched together with what
 * follows it, so that a secret is found wherever it begins.
 *
 * @param maxCharacters The result may end early when it has so many. @default all of it
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

/** Redacts what begins within a part; the last secret of it may end behind it. */
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

/** Where secrets are, in the text as it is and with its escaped letters decoded. */
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
