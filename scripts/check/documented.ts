/** A list in the code, and the page that must document all of its names. */
export interface DocumentedList {
  readonly page: string;
  readonly names: readonly string[];
}

/** Returns the names that their page does not have in backticks. */
export function undocumented(
  lists: readonly DocumentedList[],
  textOf: (page: string) => string,
): string[] {
  return lists.flatMap(({ page, names }) => {
    const text = textOf(page);
    return names.filter((name) => !text.includes(`\`${name}\``))
      .map((name) => `${page} does not name ${name}`);
  });
}
