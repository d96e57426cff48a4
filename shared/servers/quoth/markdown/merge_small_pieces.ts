import { joinPieces, type Piece, pieceTokens, type Splitting } from "./piece.ts";

/** Joins adjacent pieces that fit together and whose sizes in tokens the rule accepts. */
export function mergeSmallPieces(
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
