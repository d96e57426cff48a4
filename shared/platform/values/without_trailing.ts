/**
 * The text without any of the characters at its end, in linear time. A pattern such as `/=+$/` takes
 * quadratic time on a long run of them elsewhere.
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
