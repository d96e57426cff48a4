import { unreadable } from "./skill_problem.ts";

/** The two parts of a `SKILL.md`. */
export interface FrontMatter {
  /** YAML, not yet parsed. */
  readonly yaml: string;
  /** The line of the file in which the YAML begins, counted from 1. */
  readonly firstLine: number;
  readonly body: string;
  /** False if no line `---` ends the front matter, so that its first paragraph was taken. */
  readonly isClosed: boolean;
}

const FENCED = /^---[ \t]*(?:\r\n?|\n)(?:([^]*?)(?:\r\n?|\n))?---[ \t]*(?:\r\n?|\n|$)([^]*)$/;
/** Fields up to an empty line or a heading, where the line `---` after them was forgotten. */
const UNCLOSED =
  /^---[ \t]*(?:\r\n?|\n)([A-Za-z_][\w.-]*[ \t]*:[^]*?)(?:\r\n?|\n)(?=[ \t]*(?:\r|\n|#))([^]*)$/;

/**
 * Splits a Markdown file into its YAML front matter and its body.
 *
 * @throws SKILL_INVALID if the file does not start with front matter.
 */
export function splitFrontMatter(text: string, path: string): FrontMatter {
  const [before = ""] = /^\uFEFF?(?:[ \t]*(?:\r\n?|\n))*/.exec(text) ?? [];
  const start = withoutIndent(text.slice(before.length));
  const closed = FENCED.exec(start);
  const match = closed ?? UNCLOSED.exec(start);
  if (match === null) {
    throw unreadable({ path, line: 1 }, "it has no front matter", {
      hint: "Start the file with a line ---, then name: and description:, then a line ---.",
    });
  }
  return {
    yaml: match[1] ?? "",
    firstLine: before.split(/\r\n?|\n/).length + 1,
    body: (match[2] ?? "").trim(),
    isClosed: closed !== null,
  };
}

/** The lines without the spaces that the first one starts with, as after a paste from a code block. */
function withoutIndent(text: string): string {
  const indent = /^[ \t]*/.exec(text)?.[0] ?? "";
  if (indent === "") return text;
  return text.split("\n").map((line) => line.startsWith(indent) ? line.slice(indent.length) : line)
    .join("\n");
}
