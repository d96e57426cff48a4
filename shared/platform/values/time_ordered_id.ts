/**
 * A UUID of version 7: milliseconds since 1970, then 74 random bits. For ids of frequently inserted
 * rows: ids of the same moment share an index page, while random ones each write a whole page. Not
 * for tokens, because its bits are partly predictable.
 */
export function timeOrderedId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  // The part of a random UUID after the version digit, which has the same variant.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}
