/** The members that have a value: not null, an empty text, an empty list or an empty object. */
export function withoutEmpty<T>(
  members: Readonly<Record<string, T>>,
): Record<string, NonNullable<T>> {
  const filled = Object.entries(members).filter((entry): entry is [string, NonNullable<T>] => {
    const [, value] = entry;
    if (value === undefined || value === null || value === "") return false;
    return typeof value !== "object" || Object.keys(value).length > 0;
  });
  return Object.fromEntries(filled);
}
