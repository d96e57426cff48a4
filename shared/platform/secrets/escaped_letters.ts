import { BACKSLASH } from "./escapable_patterns.ts";

/**
 * A text with decoded letters, digits and `-._~` and without the line ends of long base64, plus the
 * mapping to the original.
 */
export interface DecodedText {
  readonly text: string;
  /** The position in the original for a position in the decoded text. */
  originalPlace(place: number): number;
}

/** Line breaks in base64, as in mails and GitHub's responses; in JSON they are escaped. */
const LINE_END = "(?<=[A-Za-z0-9+/_-]{16})(?:\\r?\\n|(?:\\\\r)?\\\\n)(?=[A-Za-z0-9+/_-])";

/**
 * `%61`, `%2561`, `\u0061`, `\x61`, `&#97;` and `&#x61;`, whatever their case, for characters that
 * no encoder needs to escape. Each alternative starts with a character that it cannot repeat.
 */
const ESCAPED = new RegExp(
  "%(?:25)*(2[dDeE]|3[0-9]|[4-7][0-9A-Fa-f])" +
    `|${BACKSLASH}{1,8}(?:[uU](?:\\{0*|00)|[xX])(2[dDeE]|3[0-9]|[4-7][0-9A-Fa-f])\\}?` +
    "|&(?:amp;)*#(?:[xX]0{0,6}(2[dDeE]|3[0-9]|[4-7][0-9A-Fa-f])|0{0,6}([0-9]{2,3}));" +
    `|(${LINE_END})`,
  "g",
);
const PLAIN = /^[A-Za-z0-9._~-]$/;
/** A text without these characters has no escapes, as in most cases. */
const MAY_BE_ESCAPED = new RegExp(`%[2-7]|\\\\|&(?:amp;)*(?:#|bsol)|${LINE_END}`);

/**
 * Decodes the escapes that {@linkcode escapablePatterns} does not match; null if there are none.
 */
export function decodeLetters(source: string): DecodedText | null {
  if (!MAY_BE_ESCAPED.test(source)) return null;
  let text = "";
  let copiedTo = 0;
  /** Positions after each escape, in the decoded text and in the original. */
  const decoded: number[] = [0];
  const original: number[] = [0];
  for (const match of source.matchAll(ESCAPED)) {
    const [whole, percent, backslash, hexadecimal, decimal, lineEnd] = match;
    const digits = percent ?? backslash ?? hexadecimal;
    const letter = lineEnd === undefined
      ? String.fromCharCode(digits === undefined ? Number(decimal) : parseInt(digits, 16))
      : "";
    if (letter !== "" && !PLAIN.test(letter)) continue;
    text += source.slice(copiedTo, match.index) + letter;
    copiedTo = match.index + whole.length;
    // The letter maps to the whole escape.
    decoded.push(text.length - letter.length, text.length);
    original.push(match.index, copiedTo);
  }
  if (copiedTo === 0) return null;
  text += source.slice(copiedTo);
  return {
    text,
    originalPlace(place) {
      let [low, high] = [0, decoded.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((decoded[middle] ?? 0) <= place) low = middle;
        else high = middle - 1;
      }
      return (original[low] ?? 0) + place - (decoded[low] ?? 0);
    },
  };
}
