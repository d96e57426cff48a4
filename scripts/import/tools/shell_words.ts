/** Escapes of `$'…'`. */
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0" };

/**
 * Splits a shell command into words: quotes, `$'…'`, backslashes, and lines that end with `\`, `^`
 * or a backtick. Variables stay as they are written.
 */
export function shellWords(command: string): string[] {
  const text = command.replaceAll(/[ \t]*[\\^`][ \t]*\r?\n/g, " ");
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= "";
    if (char === "$" && text.charAt(at + 1) === "'") {
      const [read, end] = quoted(text, at + 2, "'", true);
      word += read;
      at = end;
    } else if (char === "'" || char === '"') {
      const [read, end] = quoted(text, at + 1, char, char === '"');
      word += read;
      at = end;
    } else if (char === "\\") word += text.charAt(++at);
    else word += char;
  }
  return word === null ? words : [...words, word];
}

/** A quoted text, and where it ends; at the end of the command without a closing quote. */
function quoted(
  text: string,
  start: number,
  quote: string,
  hasEscapes: boolean,
): [read: string, end: number] {
  let read = "";
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === quote) return [read, at];
    const next = text.charAt(at + 1);
    const isEscape = hasEscapes && char === "\\" &&
      (quote === '"' ? /["\\$`]/.test(next) : next !== "");
    if (isEscape) at++;
    read += isEscape ? (quote === "'" ? ESCAPES[next] ?? next : next) : char;
  }
  return [read, text.length];
}
