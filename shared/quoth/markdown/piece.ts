import type { DocumentLines } from "./document_lines.ts";
import { commonSection, type Section } from "./outline.ts";
import { estimateTokens, type TokenMeter } from "./token_meter.ts";

/** A stretch of the document that will be one chunk, or become part of one. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  /** What is repeated before it, ending in a line end: the opening of a fence, a table's head. */
  readonly prefix: string;
  /** What closes it, beginning with a line end: the marker of a fence that was cut. */
  readonly suffix: string;
  readonly section: Section;
}

/** The document that is being split, and into what. */
export interface Splitting {
  readonly lines: DocumentLines;
  readonly meter: TokenMeter;
  readonly maxTokens: number;
}

/** What a piece adds to the index. */
export function pieceTokens(piece: Piece, { meter }: Splitting): number {
  return meter.tokens(piece.start, piece.end) + estimateTokens(piece.prefix) +
    estimateTokens(piece.suffix);
}

/** The two as one, or null when a repeated head or a closed fence stands between them. */
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
