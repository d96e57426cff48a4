import type { RankedTable } from "./rank_tables.ts";

/**
 * The constant of reciprocal rank fusion. The larger it is, the less the first places differ from
 * later ones.
 */
const RANK_OFFSET = 60;
/** Weight of meaning relative to words, which are more precise when they match. */
const MEANING_WEIGHT = 0.5;

/**
 * Combines the orders by words and by meaning. A table that only one of them contains ranks after
 * tables at the same place that both contain.
 *
 * @param byMeaning Indexes of tables, the nearest first; tables may be missing.
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
