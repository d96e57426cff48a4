import type { DocumentLines } from "./document_lines.ts";
import { commonSection, type Section } from "./outline.ts";
import { estimateTextTokens, type TokenMeter } from "./token_meter.ts";

/** A range of the document that becomes a chunk or part of one. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  /** Repeated text before it, with a line end: the opening of a fence, a table's head. */
  readonly prefix: string;
  /** Closing text, starting with a line end: the marker of a split fence. */
  readonly suffix: string;
  readonly section: Section;
}

/** The document being split, and the limits. */
export interface Splitting {
  readonly lines: DocumentLines;
  readonly meter: TokenMeter;
  readonly maxTokens: number;
}

/** The size of a piece in the index. */
export function pieceTokens(piece: Piece, { meter }: Splitting): number {
  return meter.tokens(piece.start, piece.end) + estimateTextTokens(piece.prefix) +
    estimateTextTokens(piece.suffix);
}

/** Joins two pieces, or returns null if a repeated head or a closed fence is between them. */
export function joinPieces(first: Piece, second: Piece): Piece | null {
  if (first.suffix !== "" || second.prefix !== "" || first.end !== second.start) return null;
  return {
    start: first.start,
    end: second.end,
    prefix: first.prefix,
    suffix: second.suffix,
    section: commonSection(first.section, second.section),
  };
}
