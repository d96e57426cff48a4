/** All terminal output of scripts. Results go to stdout, everything else to stderr. */

const encoder = new TextEncoder();

type Stream = Pick<typeof Deno.stdout, "writeSync" | "isTerminal">;

/** Writes one line to stdout: a result that another program may read. */
export function writeLine(text = ""): void {
  writeAll(Deno.stdout, `${text}\n`);
}

/** Writes text to stdout unchanged, such as the output of another program. */
export function writeText(text: string): void {
  writeAll(Deno.stdout, text);
}

/** Writes one line to stderr: an error, a warning, or a log line. */
export function writeError(text: string): void {
  writeAll(Deno.stderr, `${text}\n`);
}

let hasStatus = false;

/**
 * Shows a line of progress if stderr is a terminal: the next one replaces it, and anything else that
 * is written.
 */
export function writeStatus(text: string): void {
  if (!Deno.stderr.isTerminal()) return;
  const { columns } = Deno.consoleSize();
  // A line that wraps would not be replaced as a whole.
  writeAll(Deno.stderr, dim(columns > 0 ? text.slice(0, columns - 1) : text, Deno.stderr));
  hasStatus = true;
}

/** Writes one line of progress to stderr if it is a terminal. */
export function writeProgress(text: string): void {
  if (Deno.stderr.isTerminal()) writeAll(Deno.stderr, `${dim(text, Deno.stderr)}\n`);
}

/** Bold text, or plain text if `stream` is not a terminal or `NO_COLOR` is set. */
export function bold(text: string, stream: Stream = Deno.stdout): string {
  return styled(text, "1;22", stream);
}

/** Dim text, with the rules of {@linkcode bold}. */
export function dim(text: string, stream: Stream = Deno.stdout): string {
  return styled(text, "2;22", stream);
}

/** Red text, with the rules of {@linkcode bold}. */
export function red(text: string, stream: Stream = Deno.stdout): string {
  return styled(text, "31;39", stream);
}

/** Green text, with the rules of {@linkcode bold}. */
export function green(text: string, stream: Stream = Deno.stdout): string {
  return styled(text, "32;39", stream);
}

/** Yellow text, with the rules of {@linkcode bold}. */
export function yellow(text: string, stream: Stream = Deno.stdout): string {
  return styled(text, "33;39", stream);
}

/** Cyan text, with the rules of {@linkcode bold}. */
export function cyan(text: string, stream: Stream = Deno.stdout): string {
  return styled(text, "36;39", stream);
}

/** Styles a text. `codes` are the SGR numbers that turn the style on and off. */
function styled(text: string, codes: `${string};${string}`, stream: Stream): string {
  if (Deno.noColor || !stream.isTerminal()) return text;
  const [on, off] = codes.split(";");
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

/** Writes everything, because one write may be partial. Ignores a reader that closed the pipe. */
function writeAll(stream: Stream, text: string): void {
  if (hasStatus) {
    hasStatus = false;
    writeAll(Deno.stderr, "\r\x1b[K");
  }
  let bytes = encoder.encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
