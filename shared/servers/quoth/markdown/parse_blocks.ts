import type { Block, BlockKind } from "./block.ts";
import { parsePlainly } from "./parse_plainly.ts";
import { createHeadingReader, type HeadingReader } from "./read_heading.ts";

/** Quotes and lists nested deeper than this are treated as text. */
const MAX_NESTING = 100;

/** Parsing a line takes at most 10 µs, and a cell less. */
const MAX_LINES = 12_000;
const MAX_CELLS = 30_000;

/** A line with more backticks opens a fence by the standard, but no author writes that. */
const MAX_FENCE_MARKER_CHARS = 32;

/** A block's token of the parser; see the documentation of markdown-it. */
interface Token {
  readonly type: string;
  readonly tag: string;
  readonly map: readonly [number, number] | null;
  readonly markup: string;
  readonly content: string;
}

const KINDS: Readonly<Record<string, BlockKind>> = {
  heading_open: "heading",
  paragraph_open: "text",
  code_block: "text",
  html_block: "text",
  hr: "text",
  fence: "fence",
  table_open: "table",
  blockquote_open: "container",
  bullet_list_open: "container",
  ordered_list_open: "container",
  list_item_open: "container",
};

/** Blocks with an opening token, content, and a closing token. */
const CLOSINGS: ReadonlySet<string> = new Set(
  Object.keys(KINDS).filter((type) => type.endsWith("_open"))
    .map((type) => type.replace(/_open$/, "_close")),
);

/**
 * Parses Markdown (CommonMark with GitHub's tables) into blocks. JSX, components and other syntax
 * become text; it never throws. Only headings are parsed inside, which keeps it linear. Documents
 * with very many lines or cells are only parsed for headings and fences, because parsing blocks the
 * isolate.
 *
 * @param text Normalized text without front matter.
 */
export async function parseBlocks(text: string): Promise<Block[]> {
  if (isLongToParse(text)) return parsePlainly(text, await createHeadingReader());
  const { default: MarkdownIt } = await import("../../../vendor/markdown_it.js");
  const parser = new MarkdownIt({ html: true, maxNesting: MAX_NESTING });
  parser.core.ruler.enableOnly(["normalize", "block"]);
  // Link definitions are treated as text; the rule would drop their lines.
  parser.block.ruler.disable("reference");
  return toBlocks(parser.parse(text, {}), await createHeadingReader());
}

function isLongToParse(text: string): boolean {
  return countUpTo(text, "\n", MAX_LINES) === MAX_LINES ||
    countUpTo(text, "|", MAX_CELLS) === MAX_CELLS;
}

function countUpTo(text: string, part: string, limit: number): number {
  let count = 0;
  for (let place = text.indexOf(part); place !== -1; place = text.indexOf(part, place + 1)) {
    if (++count === limit) break;
  }
  return count;
}

function toBlocks(tokens: readonly Token[], readHeading: HeadingReader): Block[] {
  const top: Block[] = [];
  const open: Block[][] = [top];
  for (const [index, token] of tokens.entries()) {
    const kind = kindOf(token);
    if (kind !== undefined && token.map !== null) {
      const block = toBlock(kind, token, token.map, tokens[index + 1], readHeading);
      open.at(-1)?.push(block);
      if (token.type.endsWith("_open")) open.push(block.children);
    } else if (CLOSINGS.has(token.type)) {
      open.pop();
    }
  }
  return top;
}

function kindOf({ type, markup }: Token): BlockKind | undefined {
  return type === "fence" && markup.length > MAX_FENCE_MARKER_CHARS ? "text" : KINDS[type];
}

function toBlock(
  kind: BlockKind,
  token: Token,
  [startLine, endLine]: readonly [number, number],
  next: Token | undefined,
  readHeading: HeadingReader,
): Block {
  return {
    kind,
    startLine,
    endLine,
    textEndLine: endLine,
    children: [],
    ...(kind === "heading"
      ? { heading: readHeading(Number(token.tag.slice(1)), next?.content ?? "") }
      : {}),
    ...(kind === "fence" ? { fenceMarker: token.markup } : {}),
  };
}

/** Extends blocks so that they tile the lines from `startLine` to before `endLine`. */
export function tile(blocks: readonly Block[], startLine: number, endLine: number): Block[] {
  return blocks.map((block, index) => {
    const start = index === 0 ? startLine : block.startLine;
    const end = blocks[index + 1]?.startLine ?? endLine;
    return {
      ...block,
      startLine: start,
      endLine: end,
      children: tile(block.children, start, end),
    };
  });
}
