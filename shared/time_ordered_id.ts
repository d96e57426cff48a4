/**
 * A UUID of version 7: milliseconds since 1970, then 74 random bits. For ids of rows that many are
 * made of: those of one moment share a page of their index, where random ones write a whole page
 * each. Not for tokens, of which nobody may guess a bit.
 */
export function timeOrderedId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  // What follows the digit of the version in a random id, whose variant is the same.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}
