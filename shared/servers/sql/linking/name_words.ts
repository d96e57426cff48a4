/** Stop words of questions. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a all also an and any are as at average avg be between by calculate can compute count did do " +
    "does each every find for from get give greatest has have highest how i if in into is it its " +
    "least less list lowest many max maximum me min minimum more most much my no not number of on " +
    "only or order our out over per return show so some sum than that the their them then there " +
    "these they this those to top total us use using was we were what when where which who whose " +
    "why will with within without you your").split(" "),
);

/**
 * The words of a question, a comment or a name, by their stem: `sbDailyPrices` and `daily_price`
 * give the same ones. Stop words are dropped.
 */
export function wordsOf(text: string): string[] {
  return text
    .normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/\p{L}+|\p{N}+/gu)
    ?.filter((word) => word.length > 1 && !STOP_WORDS.has(word))
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
