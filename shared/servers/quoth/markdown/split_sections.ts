import type { Block } from "./block.ts";
import { endLineOf, type Section } from "./outline.ts";
import { packBlocks } from "./pack_blocks.ts";
import { joinPieces, type Piece, pieceTokens, type Splitting } from "./piece.ts";

/** Headings up to this level start chapters, which pieces do not span. */
const CHAPTER_LEVEL = 2;
/** How far a section may exceed the maximum because of a parent heading without text. */
const STUB_SLACK = 1.1;

/** Smaller pieces are joined with adjacent ones of the same chapter. */
const SMALL_TOKENS = 60;
/** Smaller pieces are also joined with small ones of the next chapter. */
const TINY_TOKENS = 30;

/** Splits a document by chapters, long chapters by sections, and long sections by blocks. */
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

/** A section that contains only one other section is replaced by it, which is more specific. */
function innermostWithText(section: Section): Section {
  const [only, ...others] = section.children;
  return only !== undefined && others.length === 0 && section.blocks.length === 1
    ? innermostWithText(only)
    : section;
}

/** A heading without its own text is joined with the first section below it. */
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

/**
 * Small pieces are joined with each other first, so that large ones keep their position in the
 * outline.
 */
function mergeChapter(pieces: readonly Piece[], splitting: Splitting): Piece[] {
  const among = mergeSmallPieces(
    pieces,
    splitting,
    (one, other) => Math.max(one, other) < SMALL_TOKENS,
  );
  return mergeSmallPieces(among, splitting, (one, other) => Math.min(one, other) < SMALL_TOKENS);
}

/** Joins adjacent pieces that fit together and whose sizes in tokens the rule accepts. */
function mergeSmallPieces(
  pieces: readonly Piece[],
  splitting: Splitting,
  areToJoin: (tokens: number, nextTokens: number) => boolean,
): Piece[] {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const previous = merged.pop();
    if (previous === undefined) {
      merged.push(piece);
      continue;
    }
    const isWanted = areToJoin(pieceTokens(previous, splitting), pieceTokens(piece, splitting));
    const joined = isWanted ? joinPieces(previous, piece) : null;
    if (joined !== null && pieceTokens(joined, splitting) <= splitting.maxTokens) {
      merged.push(joined);
    } else {
      merged.push(previous, piece);
    }
  }
  return merged;
}
