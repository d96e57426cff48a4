/** The first characters of a text, as well-formed text that does not end with half a character. */
export function beginningOf(text: string, maxCharacters: number): string {
  const start = text.slice(0, maxCharacters);
  const isHalved = text.length > start.length && /[\uD800-\uDBFF]$/.test(start);
  return (isHalved ? start.slice(0, -1) : start).toWellFormed();
}
