import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** The two parts of a `SKILL.md`. */
export interface FrontMatter {
  /** YAML, not yet parsed. */
  readonly yaml: string;
  readonly body: string;
}

const FENCED = /^\uFEFF?\s*---[ \t]*\r?\n(?:([^]*?)\r?\n)?---[ \t]*(?:\r?\n|$)([^]*)$/;

/**
 * Splits a Markdown file into its YAML front matter and its body.
 *
 * @throws SKILL_INVALID if the file does not start with front matter.
 */
export function splitFrontMatter(text: string, path: string): FrontMatter {
  const match = FENCED.exec(text);
  if (match === null) {
    throw new SwarmError("SKILL_INVALID", `Cannot read ${path}: it has no front matter`, {
      hint: "Start the file with a line ---, then name: and description:, then a line ---.",
    });
  }
  return { yaml: match[1] ?? "", body: (match[2] ?? "").trim() };
}
