import { type RankedTable, rankTables, type TableIndex } from "./rank_tables.ts";
import type { LinkableTable } from "./linkable_table.ts";

/** Which tables a question needs. */
export interface LinkedTables {
  /** Indexes into the tables: the ranked ones first, then those that keys join to them. */
  readonly chosen: readonly number[];
  /** How many of them were chosen by rank. */
  readonly rankedCount: number;
}

/**
 * The tables that a question is most likely about, with those that their foreign keys join to them:
 * what a query has to pass through on its way from one to the other is seldom named in a question.
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
  // A table between two that are shown comes before one beside a single one.
  const order = [...joined].sort(([a, joinsA], [b, joinsB]) =>
    Math.min(joinsB, 2) - Math.min(joinsA, 2) || (score.get(b) ?? 0) - (score.get(a) ?? 0) || a - b
  );
  return { chosen: [...seeds, ...order.map(([table]) => table)], rankedCount: seeds.length };
}

/** By table: those that a foreign key joins to it, in either direction. */
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
