import { type RankedTable, rankTables, type TableIndex } from "./rank_tables.ts";
import type { LinkableTable } from "./linkable_table.ts";

/** The tables that a question needs. */
export interface LinkedTables {
  /** Indexes into the tables: first the ranked ones, then those joined to them by keys. */
  readonly chosen: readonly number[];
  /** Number of tables chosen by rank. */
  readonly rankedCount: number;
}

/**
 * The tables that a question is most likely about, plus those that foreign keys join to them,
 * because questions seldom mention the join tables.
 *
 * @param count Tables chosen by rank.
 */
export function linkTables(
  question: string,
  index: TableIndex,
  count: number,
  ranked: readonly RankedTable[] = rankTables(question, index),
): LinkedTables {
  const seeds = ranked.slice(0, count).map(({ index }) => index);
  const chosen = new Set(seeds);
  const neighbours = neighboursOf(index.tables);
  const score = new Map(ranked.map(({ index, score }) => [index, score]));
  const joined = new Map<number, number>();
  for (const seed of seeds) {
    for (const table of neighbours.get(seed) ?? []) {
      if (!chosen.has(table)) joined.set(table, (joined.get(table) ?? 0) + 1);
    }
  }
  // A table that joins two included tables comes before one that is adjacent to one.
  const order = [...joined].sort(([a, joinsA], [b, joinsB]) =>
    Math.min(joinsB, 2) - Math.min(joinsA, 2) || (score.get(b) ?? 0) - (score.get(a) ?? 0) || a - b
  );
  return { chosen: [...seeds, ...order.map(([table]) => table)], rankedCount: seeds.length };
}

/** For each table, those joined to it by a foreign key, in either direction. */
function neighboursOf(tables: readonly LinkableTable[]): Map<number, Set<number>> {
  const neighbours = new Map<number, Set<number>>();
  const add = (from: number, to: number) => {
    const known = neighbours.get(from) ?? new Set();
    known.add(to);
    neighbours.set(from, known);
  };
  tables.forEach(({ foreignKeys }, from) => {
    for (const { target } of foreignKeys) {
      add(from, target);
      add(target, from);
    }
  });
  return neighbours;
}
