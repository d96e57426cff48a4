import process from "node:process";
import { styleText } from "node:util";
import { CommandError } from "./errors/command_error.ts";
import { prompts } from "./deps.ts";

/** Prints a line. */
export function print(text = ""): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a heading. */
export function heading(text: string): void {
  print(styled("bold", text));
}

/** Prints the lines of a unified diff, without its head. */
export function printDiff(patch: string): void {
  for (const line of patch.trimEnd().split("\n")) {
    if (/^(=|---|\+\+\+|Index)/.test(line)) continue;
    const color = line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim";
    print(`  ${styled(color, line)}`);
  }
}

/** A text in a style, on a terminal that shows colors. */
export function styled(style: Parameters<typeof styleText>[0], text: string): string {
  const hasColors = process.stdout.isTTY && process.env.NO_COLOR === undefined;
  return hasColors ? styleText(style, text) : text;
}

/** A number of things, such as `1 file` or `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Prints rows of two columns. */
export function printColumns(rows: readonly (readonly [left: string, right: string])[]): void {
  const width = Math.max(...rows.map(([left]) => left.length));
  for (const [left, right] of rows) print(`  ${left.padEnd(width)}   ${right}`);
}

/** Whether somebody can answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Asks a question. @throws CommandError `NOT_CONFIRMED` for Ctrl-C */
export async function ask(question: string): Promise<boolean> {
  const answer = await prompts.confirm({ message: question });
  if (typeof answer === "boolean") return answer;
  throw notConfirmed();
}

/**
 * Asks once whether to continue.
 *
 * @throws CommandError `NOT_CONFIRMED` if the answer is no, or nobody can answer
 */
export async function confirm(question: string): Promise<void> {
  if (!isInteractive()) {
    throw new CommandError(
      "NOT_CONFIRMED",
      "Nothing was changed: there is no terminal on which to ask",
      "Add --yes to continue without a question, or --dry-run to see only the plan.",
    );
  }
  if (!await ask(question)) throw notConfirmed();
}

function notConfirmed(): CommandError {
  return new CommandError("NOT_CONFIRMED", "Nothing was changed", "Run the command again.");
}
