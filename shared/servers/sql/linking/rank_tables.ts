import { wordsOf } from "./name_words.ts";
import type { LinkableTable } from "./linkable_table.ts";
import { sharedPrefixes, withoutPrefix } from "./shared_prefix.ts";

/** Weight of a word by its position. */
const NAME_WEIGHT = 4;
const COMMENT_WEIGHT = 0.7;

/** Bonus for a table whose full name is in the question, as a share of its words' weight. */
const WHOLE_NAME_BONUS = 1;

/** BM25 parameters: saturation of repetitions, and penalty for long tables. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.6;

/** Weight of a word that is a prefix of another (`cust` for `customers`), or contains it. */
const BEGINNING_WEIGHT = 0.6;
const PART_WEIGHT = 0.4;
const SHORTEST_BEGINNING = 3;
const SHORTEST_PART = 5;

/** Maximum number of a question's words; each of them is compared with every word of the schema. */
const MAX_WORDS = 200;

/** A table with its score for a question; 0 if they share no word. */
export interface RankedTable {
  /** Index into the tables. */
  readonly index: number;
  readonly score: number;
}

/** Tables with counted words, so that ranking does not read them again. */
export interface TableIndex {
  readonly tables: readonly LinkableTable[];
  /** The words of each table's name. */
  readonly names: readonly (readonly string[])[];
  /** For each word, the tables with it and its weight there. */
  readonly postings: ReadonlyMap<string, ReadonlyMap<number, number>>;
  readonly lengths: readonly number[];
  readonly meanLength: number;
}

/** Counts the words of names and comments. */
export function indexTables(tables: readonly LinkableTable[]): TableIndex {
  const prefixes = sharedPrefixes(tables);
  const postings = new Map<string, Map<number, number>>();
  const lengths = tables.map((table, index) => {
    let length = 0;
    for (const [text, weight] of textsOf(table, prefixes.get(table.schema) ?? "")) {
      for (const word of wordsOf(text)) {
        const tablesOfWord = postings.get(word) ?? new Map<number, number>();
        tablesOfWord.set(index, (tablesOfWord.get(index) ?? 0) + weight);
        postings.set(word, tablesOfWord);
        length += weight;
      }
    }
    return length;
  });
  const sum = lengths.reduce((total, length) => total + length, 0);
  const names = tables.map(({ schema, name }) =>
    // Short prefixes that tables of one kind share, such as `t`.
    wordsOf(withoutPrefix(name, prefixes.get(schema) ?? "")).filter((word) => word.length > 2)
  );
  return { tables, names, postings, lengths, meanLength: sum / Math.max(1, tables.length) };
}

function textsOf(
  { name, comment, columns }: LinkableTable,
  prefix: string,
): (readonly [string, number])[] {
  return [
    [withoutPrefix(name, prefix), NAME_WEIGHT],
    [comment ?? "", COMMENT_WEIGHT],
    ...columns.flatMap((column): (readonly [string, number])[] => [
      [withoutPrefix(column.name, prefix), 1],
      [column.comment ?? "", COMMENT_WEIGHT],
    ]),
  ];
}

/**
 * All tables, ranked by relevance to the question (BM25). A table's score is multiplied by the
 * share of the question's words that occur in its schema. Of similar tables in several schemas, the
 * one whose schema matches the whole question comes first.
 */
export function rankTables(question: string, index: TableIndex): RankedTable[] {
  const { tables, names, lengths, meanLength } = index;
  const scores = tables.map(() => 0);
  const schemaScores = new Map<string, number>();
  const words = new Set(new Set(wordsOf(question)).values().take(MAX_WORDS));
  for (const word of words) {
    const bestOfSchema = new Map<string, number>();
    for (const [table, { count, rarity }] of weightsOf(word, index)) {
      const length = 1 - LENGTH_SHARE + LENGTH_SHARE * (lengths[table] ?? 0) / (meanLength || 1);
      const gain = rarity * count * (SATURATION + 1) / (count + SATURATION * length);
      scores[table] = (scores[table] ?? 0) + gain;
      const schema = tables[table]?.schema ?? "";
      bestOfSchema.set(schema, Math.max(bestOfSchema.get(schema) ?? 0, gain));
    }
    for (const [schema, gain] of bestOfSchema) {
      schemaScores.set(schema, (schemaScores.get(schema) ?? 0) + gain);
    }
  }
  const bestScore = Math.max(...schemaScores.values());
  const shareOf = (schema: string) => (schemaScores.get(schema) ?? 0) / bestScore;
  return tables
    .map(({ schema }, index) => ({
      index,
      score: (scores[index] ?? 0) * shareOf(schema) *
        (isNamedWhole(names[index] ?? [], words) ? 1 + WHOLE_NAME_BONUS : 1),
    }))
    .sort((a, b) => b.score - a.score || a.index - b.index);
}

function isNamedWhole(name: readonly string[], words: ReadonlySet<string>): boolean {
  return name.length > 0 && name.every((word) => words.has(word));
}

interface WordWeight {
  count: number;
  rarity: number;
}

/** The weight of a question's word per table: the best similar word counts. */
function weightsOf(
  word: string,
  { postings, tables: { length: tableCount } }: TableIndex,
): ReadonlyMap<number, WordWeight> {
  const best = new Map<number, WordWeight>();
  for (const [known, tables] of postings) {
    const likeness = likenessOf(word, known);
    if (likeness === 0) continue;
    const rarity = likeness * Math.log(1 + (tableCount - tables.size + 0.5) / (tables.size + 0.5));
    for (const [table, count] of tables) {
      const before = best.get(table);
      if (before === undefined || before.rarity < rarity) best.set(table, { count, rarity });
    }
  }
  return best;
}

function likenessOf(word: string, known: string): number {
  if (word === known) return 1;
  const [short, long] = word.length < known.length ? [word, known] : [known, word];
  if (short.length >= SHORTEST_BEGINNING && long.startsWith(short)) return BEGINNING_WEIGHT;
  return short.length >= SHORTEST_PART && long.includes(short) ? PART_WEIGHT : 0;
}
