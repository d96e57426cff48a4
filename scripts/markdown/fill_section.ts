/**
 * Replaces the text of one generated section in a page. The section is between `<!-- begin NAME
 * -->` and `<!-- end NAME -->`. The rest of the page is written by hand.
 *
 * @throws Error when the page has no such section.
 */
export function fillSection(page: string, name: string, content: string): string {
  const begin = `<!-- begin ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`Cannot fill the page: it has no ${begin} … ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${page.slice(to)}`;
}
