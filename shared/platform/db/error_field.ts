/** Characters of a field. */
const MAX_LENGTH = 2_000;

/**
 * A text field of a database error, such as `message` or `hint`; undefined if it is missing or empty.
 * It is shortened, because errors quote values of any length.
 */
export function errorField(error: unknown, name: string): string | undefined {
  const value: unknown = typeof error === "object" && error !== null
    ? Reflect.get(error, name)
    : undefined;
  if (typeof value !== "string" || value === "") return undefined;
  return value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value;
}
