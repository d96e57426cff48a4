/** The part that decides. */
const MOST_CHARACTERS = 20_000;
/** What begins a line only in Markdown: a heading, a quote, a fence, or a table's second line. */
const BLOCK = /^ {0,3}(?:#{1,6} \S|> ?\S|```|~~~|\|? *:?-{2,}:? *\|[ |:-]*$)/m;
/** Two items in a row: a single line may begin with a dash or a date. */
const LIST = /^ *(?:[-*+]|\d{1,3}[.)]) \S.*\n(?:.+\n)*? *(?:[-*+]|\d{1,3}[.)]) \S/m;
const BOLD = /(?:^|[\s(])\*\*\S(?:[^\n*]*\S)?\*\*(?!\w)/;
const LINK = /\[[^\]\n]{1,300}\]\((?:https?:\/\/|mailto:)[^)\s]+\)/;
const CODE = /`[^`\n]+`/;

/** Whether a text is written in Markdown, so that it reads better rendered. */
export function isMarkdown(text: string): boolean {
  const start = text.slice(0, MOST_CHARACTERS);
  return [BLOCK, LIST, BOLD, LINK, CODE].some((sign) => sign.test(start));
}
