/**
 * The lines of a CSV text by RFC 4180. The separator is the most frequent of comma, semicolon and
 * tab in the first line; blank lines are skipped.
 */
export function parseCsv(text: string): string[][] {
  const separator = separatorOf(text);
  const lines: string[][] = [];
  let line: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endLine = () => {
    line.push(cell);
    if (line.length > 1 || cell !== "") lines.push(line);
    [line, cell] = [[], ""];
  };
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[index + 1] === '"') cell += text[++index];
      else isQuoted = false;
    } else if (character === '"' && cell === "") isQuoted = true;
    else if (character === separator) {
      line.push(cell);
      cell = "";
    } else if (character === "\n") endLine();
    else if (character !== "\r" || text[index + 1] !== "\n") cell += character;
  }
  endLine();
  return lines;
}

function separatorOf(text: string): string {
  const [first = ""] = text.split("\n", 1);
  const [most = ","] = [",", ";", "\t"].sort((a, b) =>
    first.split(b).length - first.split(a).length
  );
  return most;
}
