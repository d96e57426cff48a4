import { BACKSLASH } from "./escapable_patterns.ts";

/**
 * A text with the escapes of letters, digits and `-._~` undone and without the line ends of long
 * base64, and the way back.
 */
export interface DecodedText {
  readonly text: string;
  /** The place in the original of a place in the decoded text. */
  originalPlace(place: number): number;
}

/** Where base64 is broken into lines, as in mails and in GitHub's answers; in JSON it is escaped. */
const LINE_END = "(?<=[A-Za-z0-9+/_-]{16})(?:\\r?\\n|(?:\\\\r)?\\\\n)(?=[A-Za-z0-9+/_-])";

/**
 * `%61`, `%2561`, `\u0061`, `\x61`, `&#97;` and `&#x61;`, whatever their case, for characters that
 * no encoder has to escape. Each alternative begins with what it cannot repeat.
 */
const ESCAPED = new RegExp(
  "%(?:25)*(2[dDeE]|3[0-9]|[4-7][0-9A-Fa-f])" +
    `|${BACKSLASH}{1,8}(?:[uU](?:\\{0*|00)|[xX])(2[dDeE]|3[0-9]|[4-7][0-9A-Fa-f])\\}?` +
    "|&(?:amp;)*#(?:[xX]0{0,6}(2[dDeE]|3[0-9]|[4-7][0-9A-Fa-f])|0{0,6}([0-9]{2,3}));" +
    `|(${LINE_END})`,
  "g",
);
const PLAIN = /^[A-Za-z0-9._~-]$/;
/** Without one of these nothing is escaped, and most texts are like that. */
const MAY_BE_ESCAPED = new RegExp(`%[2-7]|\\\\|&(?:amp;)*(?:#|bsol)|${LINE_END}`);

/** Undoes escapes that {@linkcode escapablePatterns} takes to be absent; null: there are none. */
export function decodeLetters(source: string): DecodedText | null {
  if (!MAY_BE_ESCAPED.test(source)) return null;
  let text = "";
  let copiedTo = 0;
  /** Places in the decoded text after each escape, and in the original. */
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
    // The letter stands for all of the escape.
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
