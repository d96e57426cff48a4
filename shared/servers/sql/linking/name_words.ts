import { stemmedWords } from "../../../platform/values/stemmed_words.ts";

/** Stop words of questions. */
const QUESTION_WORDS: ReadonlySet<string> = new Set(
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
  return stemmedWords(text, QUESTION_WORDS);
}
