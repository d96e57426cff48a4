/** A list in the code and the page that must name all of it. */
export interface DocumentedList {
  readonly page: string;
  readonly names: readonly string[];
}

/** Every name that its page does not have in backticks. */
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
