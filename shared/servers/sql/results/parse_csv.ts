/** A text has more cells than its reader takes. */
export class TooManyCellsError extends Error {
  override readonly name = "TooManyCellsError";
}

/**
 * The lines of a CSV text by RFC 4180. The separator is the most frequent of comma, semicolon and
 * tab in the first line; blank lines are skipped.
 *
 * @throws TooManyCellsError for more cells than `maxCells`, counting blank lines.
 */
export function parseCsv(text: string, maxCells = Infinity): string[][] {
  const separator = separatorOf(text);
  const nextEnd = new RegExp(`[${separator}\n]`, "g");
  const lines: string[][] = [];
  let line: string[] = [];
  let cellCount = 0;
  for (let start = 0; start <= text.length;) {
    if (++cellCount > maxCells) throw new TooManyCellsError();
    const quoted = text[start] === '"' ? quotedAt(text, start) : { value: "", end: start };
    nextEnd.lastIndex = quoted.end;
    const end = nextEnd.exec(text)?.index ?? text.length;
    const isLineEnd = text[end] !== separator;
    const rest = text.slice(quoted.end, end);
    line.push(quoted.value + (isLineEnd && end < text.length ? rest.replace(/\r$/, "") : rest));
    if (isLineEnd) {
      if (line.length > 1 || line[0] !== "") lines.push(line);
      line = [];
    }
    start = end + 1;
  }
  return lines;
}

/** A quoted cell without its quotes, and the index after it. One without an end goes to the end. */
function quotedAt(text: string, start: number): { readonly value: string; readonly end: number } {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  const value = text.slice(start + 1, end === -1 ? text.length : end).replaceAll('""', '"');
  return { value, end: end === -1 ? text.length : end + 1 };
}

function separatorOf(text: string): string {
  const firstEnd = text.indexOf("\n");
  const counts = new Map([[",", 0], [";", 0], ["\t", 0]]);
  for (let index = 0; index < (firstEnd === -1 ? text.length : firstEnd); index++) {
    const count = counts.get(text[index] ?? "");
    if (count !== undefined) counts.set(text[index] ?? "", count + 1);
  }
  const [[most] = [","]] = [...counts].sort(([, a], [, b]) => b - a);
  return most;
}
