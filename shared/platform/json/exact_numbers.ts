/**
 * Strings are matched first, so that digits in them stay as they are. One without an end reaches to
 * the end of the text: searching the rest of it for strings again would take quadratic time.
 */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A text without this has no number that is rounded. */
const MAY_BE_ROUNDED = /\d{16}|[eE][+-]?\d{3}/;
/** All whole numbers of so many digits are exact. */
const EXACT_DIGITS = 15;
/** No number has so many digits, and reading them all would take long. */
export const MAX_DIGITS = 400;

/** A JSON text whose numbers programs read exactly. */
export interface ExactNumbers {
  readonly text: string;
  /** The numbers that were replaced by their text. */
  readonly count: number;
}

/**
 * Replaces the numbers of a JSON text that a floating-point number cannot hold by their text: whole
 * numbers that it rounds, because a rounded id is another one, and numbers beyond its range.
 * Decimals are near enough.
 */
export function exactNumbers(text: string): ExactNumbers {
  if (!MAY_BE_ROUNDED.test(text)) return { text, count: 0 };
  let count = 0;
  const exact = text.replaceAll(STRING_OR_NUMBER, (token) => {
    if (token.startsWith('"') || !isRounded(token)) return token;
    count++;
    return `"${token}"`;
  });
  return { text: exact, count };
}

/** Whether a floating-point number is exactly this whole number. */
export function isExact(digits: string): boolean {
  const number = Number(digits);
  return digits.length <= MAX_DIGITS && Number.isFinite(number) &&
    BigInt(number) === BigInt(digits);
}

function isRounded(token: string): boolean {
  const number = Number(token);
  if (!Number.isFinite(number)) return true;
  if (number === 0) return /^-?[\d.]*[1-9]/.test(token);
  const [, whole = ""] = /^-?(\d+)/.exec(token) ?? [];
  return whole.length > EXACT_DIGITS && !isExact(whole);
}
