import type { Splitting } from "./piece.ts";

/** Where a text may be split, best first. Otherwise it is split between two characters. */
export type CutPlaces = readonly RegExp[];

const BLANK_LINE = /\n[ \t>]*\n/g;
const LINE = /\n/g;
const BLANK = /\s+/g;
const SENTENCE = /[.!?…]["'”’)\]*_`]*\s+|[。！？]/g;

/** Places in running text. */
export const PROSE_CUTS: CutPlaces = [BLANK_LINE, SENTENCE, LINE, BLANK];
/** Places in code, rows and other text that is read by lines. */
export const LINE_CUTS: CutPlaces = [BLANK_LINE, LINE, BLANK];

/**
 * Splits a range into parts of at most `maxTokens` of about equal length, so that no short tail
 * remains.
 *
 * @returns Where the parts start, except the first.
 */
export function cutText(
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
