import {
  gainsOf,
  indexWords,
  questionWords,
  type WeightedWords,
  type WordIndex,
} from "../../../platform/values/rank_by_words.ts";
import { wordsOf } from "./name_words.ts";
import type { LinkableTable } from "./linkable_table.ts";
import { sharedPrefixes, withoutPrefix } from "./shared_prefix.ts";

/** Weight of a word by its position. */
const NAME_WEIGHT = 4;
const COMMENT_WEIGHT = 0.7;

/** Bonus for a table whose full name is in the question, as a share of its words' weight. */
const WHOLE_NAME_BONUS = 1;

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
  readonly words: WordIndex;
}

/** Counts the words of names and comments. */
export function indexTables(tables: readonly LinkableTable[]): TableIndex {
  const prefixes = sharedPrefixes(tables);
  const words = indexWords(
    tables.map((table) => textsOf(table, prefixes.get(table.schema) ?? "")),
  );
  const names = tables.map(({ schema, name }) =>
    // Short prefixes that tables of one kind share, such as `t`.
    wordsOf(withoutPrefix(name, prefixes.get(schema) ?? "")).filter((word) => word.length > 2)
  );
  return { tables, names, words };
}

function textsOf(
  { name, comment, columns }: LinkableTable,
  prefix: string,
): readonly WeightedWords[] {
  const weighted = (text: string, weight: number) => ({ words: wordsOf(text), weight });
  return [
    weighted(withoutPrefix(name, prefix), NAME_WEIGHT),
    weighted(comment ?? "", COMMENT_WEIGHT),
    ...columns.flatMap((column) => [
      weighted(withoutPrefix(column.name, prefix), 1),
      weighted(column.comment ?? "", COMMENT_WEIGHT),
    ]),
  ];
}

/**
 * All tables, ranked by relevance to the question (BM25). A table's score is multiplied by the
 * share of the question's words that occur in its schema. Of similar tables in several schemas, the
 * one whose schema matches the whole question comes first.
 */
export function rankTables(question: string, index: TableIndex): RankedTable[] {
  const { tables, names } = index;
  const scores = tables.map(() => 0);
  const schemaScores = new Map<string, number>();
  const words = questionWords(wordsOf(question));
  for (const word of words) {
    const bestOfSchema = new Map<string, number>();
    for (const [table, gain] of gainsOf(word, index.words)) {
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
