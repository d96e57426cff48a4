/** The project's secret key for its own requests: the one named `default`, otherwise the first. */
export function serviceKeyOf(secretKeys: Readonly<Record<string, string>>): string {
  return secretKeys.default ?? Object.values(secretKeys)[0] ?? "";
}
