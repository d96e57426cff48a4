import type { Block } from "./block.ts";
import { mergeSmallPieces } from "./merge_small_pieces.ts";
import { endLineOf, type Section } from "./outline.ts";
import { packBlocks } from "./pack_blocks.ts";
import type { Piece, Splitting } from "./piece.ts";

/** Headings of this level and below are chapters of their own: pieces do not reach across. */
const CHAPTER_LEVEL = 2;
/** How far a section may exceed the maximum because the heading above has no text of its own. */
const STUB_SLACK = 1.1;

/** Pieces below this join their neighbours of the same chapter. */
const SMALL_TOKENS = 60;
/** Pieces below this join small ones of the next chapter too. */
const TINY_TOKENS = 30;

/** Splits a document: by chapters, those that are too long by their sections, those by blocks. */
export function splitSections(root: Section, splitting: Splitting): Piece[] {
  const pieces = splitAboveChapters(root, [], splitting);
  return mergeSmallPieces(
    pieces,
    splitting,
    (one, other) => Math.max(one, other) < SMALL_TOKENS && Math.min(one, other) < TINY_TOKENS,
  );
}

function splitAboveChapters(section: Section, stub: readonly Block[], to: Splitting): Piece[] {
  if (section.level >= CHAPTER_LEVEL) return mergeChapter(splitSection(section, stub, to), to);
  return splitByChildren(section, stub, to, splitAboveChapters);
}

function splitSection(section: Section, stub: readonly Block[], splitting: Splitting): Piece[] {
  const { lines, meter, maxTokens } = splitting;
  const start = lines.offset((stub[0] ?? section.blocks[0])?.startLine ?? 0);
  const end = lines.offset(endLineOf(section));
  const limit = stub.length > 0 ? maxTokens * STUB_SLACK : maxTokens;
  if (meter.tokens(start, end) <= limit) {
    return [{ start, end, prefix: "", suffix: "", section: innermostWithText(section) }];
  }
  return splitByChildren(section, stub, splitting, splitSection);
}

/** Where a section holds nothing but one other, that one tells more. */
function innermostWithText(section: Section): Section {
  const [only, ...others] = section.children;
  return only !== undefined && others.length === 0 && section.blocks.length === 1
    ? innermostWithText(only)
    : section;
}

/** A heading without text of its own goes with the first section below it. */
function splitByChildren(
  section: Section,
  stub: readonly Block[],
  splitting: Splitting,
  split: (child: Section, stub: readonly Block[], splitting: Splitting) => Piece[],
): Piece[] {
  const blocks = [...stub, ...section.blocks];
  const isStub = section.children.length > 0 && blocks.every(({ kind }) => kind === "heading");
  return [
    ...(isStub ? [] : packBlocks(blocks, section, splitting)),
    ...section.children.flatMap((child, index) =>
      split(child, isStub && index === 0 ? blocks : [], splitting)
    ),
  ];
}

/** Small pieces join each other first, so that large ones keep their place in the outline. */
function mergeChapter(pieces: readonly Piece[], splitting: Splitting): Piece[] {
  const among = mergeSmallPieces(
    pieces,
    splitting,
    (one, other) => Math.max(one, other) < SMALL_TOKENS,
  );
  return mergeSmallPieces(among, splitting, (one, other) => Math.min(one, other) < SMALL_TOKENS);
}
