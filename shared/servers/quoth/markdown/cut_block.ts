import type { Block } from "./block.ts";
import type { DocumentLines } from "./document_lines.ts";
import type { Piece, Splitting } from "./piece.ts";
import type { Section } from "./outline.ts";
import { estimateTextTokens } from "./token_meter.ts";

/** The text repeated around each part of a block, and the lines that are split. */
interface Frame {
  readonly prefix: string;
  readonly suffix: string;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  readonly places: CutPlaces;
}

/**
 * Splits a block that is too long into pieces: a fence at blank lines, closed and reopened with its
 * info string; a table between rows, with its head repeated; text after sentences.
 *
 * @param start Where the first piece starts: before the block, if a lead belongs to it.
 */
export function cutBlock(
  block: Block,
  start: number,
  section: Section,
  splitting: Splitting,
): Piece[] {
  const { lines, meter, maxTokens } = splitting;
  const frame = frameOf(block, lines);
  const leadTokens = meter.tokens(start, frame.bodyStart);
  const aroundTokens = estimateTextTokens(frame.prefix) + estimateTextTokens(frame.suffix);
  const bodyTokens = maxTokens -
    Math.max(leadTokens + estimateTextTokens(frame.suffix), aroundTokens);
  if (bodyTokens < maxTokens / 3) {
    return toPieces({ ...plainFrame(block, lines), bodyStart: start }, start, maxTokens);
  }
  return toPieces(frame, start, bodyTokens);

  function toPieces({ prefix, suffix, ...body }: Frame, from: number, tokens: number): Piece[] {
    const lastSuffix = missingFenceEnd(block, lines);
    const range = { start: body.bodyStart, end: body.bodyEnd };
    const cuts = cutText(range, tokens, body.places, splitting);
    const end = lines.offset(block.endLine);
    return [from, ...cuts].map((pieceStart, index) => ({
      start: pieceStart,
      end: cuts[index] ?? end,
      prefix: index === 0 ? "" : prefix,
      suffix: index === cuts.length ? lastSuffix : suffix,
      section,
    }));
  }
}

/** The closing marker of a fence that the author left open; empty for other blocks. */
export function missingFenceEnd(block: Block, lines: DocumentLines): string {
  if (block.fenceMarker === undefined || isFenceClosed(block, block.fenceMarker, lines)) return "";
  return `\n${fenceIndent(block, block.fenceMarker, lines)}${block.fenceMarker}`;
}

function frameOf(block: Block, lines: DocumentLines): Frame {
  if (block.fenceMarker !== undefined) return fenceFrame(block, block.fenceMarker, lines);
  return block.kind === "table" ? tableFrame(block, lines) : plainFrame(block, lines);
}

function plainFrame(block: Block, lines: DocumentLines): Frame {
  return {
    prefix: "",
    suffix: "",
    bodyStart: lines.offset(block.startLine),
    bodyEnd: lines.offset(block.endLine),
    places: block.kind === "text" ? PROSE_CUTS : LINE_CUTS,
  };
}

function fenceFrame(block: Block, marker: string, lines: DocumentLines): Frame {
  const opening = lines.line(block.startLine);
  const indent = fenceIndent(block, marker, lines);
  const isClosed = isFenceClosed(block, marker, lines);
  return {
    prefix: `${indent}${opening.slice(indent.length)}\n`,
    suffix: `\n${indent}${marker}`,
    bodyStart: lines.offset(block.startLine + 1),
    bodyEnd: lines.offset(isClosed ? block.textEndLine - 1 : block.textEndLine),
    places: LINE_CUTS,
  };
}

function tableFrame(block: Block, lines: DocumentLines): Frame {
  const head = lines.line(block.startLine);
  return {
    prefix: `${withoutListMarkers(head)}\n${lines.line(block.startLine + 1)}\n`,
    suffix: "",
    bodyStart: lines.offset(block.startLine + 2),
    bodyEnd: lines.offset(block.textEndLine),
    places: LINE_CUTS,
  };
}

/** The indentation of a fence's marker, as in the fence's other lines. */
function fenceIndent(block: Block, marker: string, lines: DocumentLines): string {
  const opening = lines.line(block.startLine);
  return withoutListMarkers(opening.slice(0, Math.max(opening.indexOf(marker), 0)));
}

function isFenceClosed(block: Block, marker: string, lines: DocumentLines): boolean {
  if (block.textEndLine - block.startLine < 2) return false;
  const last = lines.line(block.textEndLine - 1).replace(/^[\s>]+/, "").trimEnd();
  return last.length >= marker.length && last === marker.charAt(0).repeat(last.length);
}

/** Replaces list markers at the start of a line by spaces; quote markers stay. */
function withoutListMarkers(line: string): string {
  return line.replace(
    /^(?:[\s>]|[-*+](?=\s)|\d{1,9}[.)](?=\s))*/,
    (start) => start.replace(/[^\s>]/g, " "),
  );
}

/** Where a text may be split, best first. Otherwise it is split between two characters. */
type CutPlaces = readonly RegExp[];

const BLANK_LINE = /\n[ \t>]*\n/g;
const LINE = /\n/g;
const BLANK = /\s+/g;
const SENTENCE = /[.!?…]["'”’)\]*_`]*\s+|[。！？]/g;

/** Places in running text. */
const PROSE_CUTS: CutPlaces = [BLANK_LINE, SENTENCE, LINE, BLANK];
/** Places in code, rows and other text that is read by lines. */
const LINE_CUTS: CutPlaces = [BLANK_LINE, LINE, BLANK];

/**
 * Splits a range into parts of at most `maxTokens` of about equal length, so that no short tail
 * remains.
 *
 * @returns Where the parts start, except the first.
 */
function cutText(
  range: { readonly start: number; readonly end: number },
  maxTokens: number,
  places: CutPlaces,
  { lines, meter }: Splitting,
): number[] {
  const cuts: number[] = [];
  for (let start = range.start; meter.tokens(start, range.end) > maxTokens;) {
    const rest = meter.tokens(start, range.end);
    const idealTokens = rest / Math.ceil(rest / maxTokens);
    const limit = meter.fit(start, range.end, maxTokens);
    const low = meter.fit(start, range.end, Math.floor(idealTokens / 2));
    const target = meter.fit(start, range.end, Math.ceil(idealTokens));
    const cut = nearestPlace(lines.text.slice(low, limit), target - low, places);
    start = cut === null ? betweenCharacters(lines.text, limit, start) : low + cut;
    cuts.push(start);
  }
  return cuts;
}

/** The end of the match nearest to `target`, of the best kind of place that occurs. */
function nearestPlace(text: string, target: number, places: CutPlaces): number | null {
  for (const place of places) {
    let nearest: number | null = null;
    for (const match of text.matchAll(place)) {
      const end = match.index + match[0].length;
      if (nearest === null || Math.abs(end - target) < Math.abs(nearest - target)) nearest = end;
    }
    if (nearest !== null) return nearest;
  }
  return null;
}

/** A split at `limit` that never divides a surrogate pair and always advances. */
function betweenCharacters(text: string, limit: number, start: number): number {
  const isLowHalf = /^[\uDC00-\uDFFF]/.test(text.slice(limit, limit + 1));
  const cut = isLowHalf ? limit - 1 : limit;
  return cut > start ? cut : start + (isLowHalf ? 2 : 1);
}
