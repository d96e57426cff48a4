import type { RankedTable } from "./rank_tables.ts";

/** Of reciprocal rank fusion: how little the very first places count more than those after them. */
const RANK_OFFSET = 60;
/** Words are exact where they match, so meaning counts less than they do. */
const MEANING_WEIGHT = 0.5;

/**
 * One order out of two: by words, and by meaning. A table that only one of them finds stands where
 * that one puts it, behind those that both find.
 *
 * @param byMeaning Indexes of tables, the nearest first; not all of them need be there.
 */
export function fuseRanks(
  byWords: readonly RankedTable[],
  byMeaning: readonly number[],
): RankedTable[] {
  const meaningPlaces = new Map(byMeaning.map((index, place) => [index, place]));
  return byWords
    .map(({ index, score }, place) => {
      const meaningPlace = meaningPlaces.get(index);
      const words = score > 0 ? 1 / (RANK_OFFSET + place) : 0;
      const meaning = meaningPlace === undefined
        ? 0
        : MEANING_WEIGHT / (RANK_OFFSET + meaningPlace);
      return { index, score: words + meaning };
    })
    .sort((a, b) => b.score - a.score || a.index - b.index);
}
