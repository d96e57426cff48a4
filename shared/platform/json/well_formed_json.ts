/**
 * JSON without halves of characters, which several servers and PostgreSQL refuse: each becomes
 * U+FFFD.
 *
 * @param json As `JSON.stringify()` writes it, which escapes a surrogate only if it is alone.
 */
export function wellFormedJson(json: string): string {
  if (!/\\ud[89a-f]/.test(json)) return json;
  // Also consumes escaped backslashes, which may stand before the same letters.
  return json.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (escape) => {
    return escape.length > 2 ? "\uFFFD" : escape;
  });
}
