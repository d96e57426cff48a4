/**
 * The words of a text or a name, by their stem: `sbDailyPrices` and `daily_price` give the same
 * ones. Words of one letter are dropped.
 *
 * @param stopWords Words to drop, before they are stemmed.
 */
export function stemmedWords(text: string, stopWords: ReadonlySet<string>): string[] {
  return text
    .normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/\p{L}+|\p{N}+/gu)
    ?.filter((word) => word.length > 1 && !stopWords.has(word))
    .map(stemOf) ?? [];
}

/** A rough stem, so that singular and plural, verb and noun of a word match. */
function stemOf(word: string): string {
  for (const [ending, stem] of ENDINGS) {
    if (word.length - ending.length >= 3 && word.endsWith(ending)) {
      return word.slice(0, -ending.length) + stem;
    }
  }
  return word;
}

/** Longest first; `ss` keeps words such as `class` and `address` intact. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["ations", "at"],
  ["ation", "at"],
  ["ments", ""],
  ["ment", ""],
  ["sses", "ss"],
  ["ies", "y"],
  ["ing", ""],
  ["ers", ""],
  ["ors", ""],
  ["ss", "ss"],
  ["us", "us"],
  ["es", ""],
  ["ed", ""],
  ["er", ""],
  ["or", ""],
  ["s", ""],
  ["e", ""],
];
