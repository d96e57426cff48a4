/** A fenced block of a Markdown page, and the comment before it about running it. */
export interface CodeBlock {
  readonly page: string;
  /** Line of the opening fence, starting at 1. */
  readonly line: number;
  /** The info string, such as `sh`; empty for output and diagrams, which do not run. */
  readonly language: string;
  readonly text: string;
  readonly directive: BlockDirective;
}

/**
 * Written as an HTML comment on the line before the fence:
 *
 * - `<!-- not run: why -->` a test cannot run the block;
 * - `<!-- save as: path -->` the block is a file, which is written but not run by itself;
 * - `<!-- as user -->` SQL that runs as a signed-in user instead of `postgres`;
 * - `<!-- no rows: why -->` SQL that may find or change nothing here.
 */
export type BlockDirective =
  | { readonly kind: "run"; readonly asUser: boolean; readonly mayFindNothing: boolean }
  | { readonly kind: "not run"; readonly why: string }
  | { readonly kind: "save"; readonly path: string };

const FENCE = /^(\s*)(`{3,})(\S*)/;
const COMMENT = /^\s*<!-- (.+) -->\s*$/;
const MIN_REASON_LENGTH = 15;

/**
 * The blocks of a page in their order. A page whose first lines contain
 * `<!-- blocks not run: why -->` is run by another test.
 *
 * @throws SyntaxError for a fence that does not end, and a comment that is not one of those above.
 */
export function codeBlocks(page: string, text: string): CodeBlock[] {
  const lines = text.split("\n");
  const pageReason = /^<!-- blocks not run: (.+) -->$/m.exec(text)?.[1];
  const blocks: CodeBlock[] = [];
  for (let index = 0; index < lines.length; index++) {
    const [, indent = "", fence = "", language = ""] = FENCE.exec(lines[index] ?? "") ?? [];
    if (fence === "") continue;
    const end = lines.findIndex((line, at) => at > index && line.trim() === fence);
    if (end < 0) throw new SyntaxError(`${page}:${index + 1}: this block does not end`);
    const body = lines.slice(index + 1, end).map((line) => line.replace(indent, ""));
    const directive = pageReason === undefined
      ? readDirective(lines, index, `${page}:${index + 1}`)
      : { kind: "not run", why: pageReason } as const;
    blocks.push({ page, line: index + 1, language, text: body.join("\n"), directive });
    index = end;
  }
  return blocks;
}

function readDirective(lines: readonly string[], index: number, at: string): BlockDirective {
  let above = index - 1;
  while (lines[above]?.trim() === "") above--;
  const words = COMMENT.exec(lines[above] ?? "")?.[1];
  if (words === undefined) return { kind: "run", asUser: false, mayFindNothing: false };
  const [, key, value = ""] = /^(not run|save as|no rows|as user)(?:: (.+))?$/.exec(words) ?? [];
  const needsReason = key === "not run" || key === "no rows";
  if (needsReason && value.length < MIN_REASON_LENGTH) {
    throw new SyntaxError(`${at}: say after "${key}:" why in a few words`);
  }
  switch (key) {
    case "not run":
      return { kind: "not run", why: value };
    case "save as":
      return { kind: "save", path: value };
    case "as user":
      return { kind: "run", asUser: true, mayFindNothing: false };
    case "no rows":
      return { kind: "run", asUser: false, mayFindNothing: true };
    default:
      throw new SyntaxError(
        `${at}: the comment before the block is "${words}"; write "not run: why", ` +
          '"save as: path", "as user" or "no rows: why"',
      );
  }
}
