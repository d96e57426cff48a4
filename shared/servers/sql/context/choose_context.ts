import { wordsOf } from "../linking/name_words.ts";
import { describeTable, describeTypes, nameOf } from "../linking/compact_schema.ts";
import type { LinkableTable } from "../linking/linkable_table.ts";
import { type RankedTable, rankTables, type TableIndex } from "../linking/rank_tables.ts";
import type { SqlContext } from "./sql_context.ts";

/** A schema that fits is shown completely: models choose tables better than word ranking. */
const FULL_SCHEMA_CHARACTERS = 30_000;
/**
 * Number of tables chosen by rank if the schema is larger, and the budget for them with their
 * neighbors.
 */
const RANKED_TABLES = 20;
const LINKED_SCHEMA_CHARACTERS = 16_000;
/** Budget for everything that a prompt adds to the question. */
const MAX_TOKENS = 12_000;
const MAX_PATTERNS = 5;
const MAX_FIXES = 8;

/** The context that a model gets with the question. */
export interface ChosenContext {
  readonly schema: string;
  /** Names of the included tables. */
  readonly tables: readonly string[];
  readonly isWholeSchema: boolean;
  readonly overview: string;
  readonly patterns: readonly string[];
  readonly fixes: readonly string[];
  readonly insights: readonly string[];
  readonly modelNotes: readonly string[];
  readonly tokens: number;
  /** Number of omitted items of each kind. */
  readonly leftOut: {
    readonly tables: number;
    readonly patterns: number;
    readonly fixes: number;
    readonly insights: number;
    readonly model_notes: number;
  };
}

/** Four characters per token is accurate for current models within 20 percent. */
export function estimateContextTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Whether the whole schema is short enough for a prompt; else tables are chosen by their order. */
export function fitsWhole({ tables }: TableIndex): boolean {
  let characters = describeTypes(tables).reduce((sum, { length }) => sum + length + 1, 0);
  for (const table of tables) {
    characters += describeTable(table, tables).length + 1;
    if (characters > FULL_SCHEMA_CHARACTERS) return false;
  }
  return true;
}

/**
 * Chooses the context for a question: the whole schema if it is small, otherwise the relevant
 * tables and those that join them; similar queries and fixes; the rest within the budget.
 */
export function chooseContext(
  question: string,
  index: TableIndex,
  learned: SqlContext,
  ranked: readonly RankedTable[] = rankTables(question, index),
): ChosenContext {
  const { shown, isWhole } = chooseTables(question, index, ranked);
  const types = describeTypes(shown.map(({ table }) => table));
  const schema = [...shown.map(({ line }) => line), ...types].join("\n");
  const subject = `${question}\n${shown.map(({ name }) => name).join(" ")}`;
  const patterns = mostLike(
    question,
    learned.patterns.map(({ title, text, sql }) =>
      [`## ${title}`, text, `\`\`\`sql\n${sql}\n\`\`\``].filter((part) => part !== "").join("\n")
    ),
    MAX_PATTERNS,
  );
  const fixes = mostLike(
    subject,
    learned.fixes.map(({ error, fix }) => `**Error**: \`${error}\`\n**Fix**: ${fix}`),
    MAX_FIXES,
  );
  const remarks = ({ title, text }: { readonly title: string; readonly text: string }) =>
    title === "" ? text : `### ${title}\n${text}`;
  const budget = new TokenBudget(MAX_TOKENS - estimateContextTokens(schema));
  // In order of usefulness.
  const overview = budget.take([learned.overview].filter((text) => text !== ""));
  const chosenFixes = budget.take(fixes);
  const chosenPatterns = budget.take(patterns);
  const insights = budget.take(learned.insights.map(remarks));
  const modelNotes = budget.take(learned.modelNotes.map(remarks));
  return {
    schema,
    tables: shown.map(({ name }) => name),
    isWholeSchema: isWhole,
    overview: overview[0] ?? "",
    patterns: chosenPatterns,
    fixes: chosenFixes,
    insights,
    modelNotes,
    tokens: MAX_TOKENS - budget.left,
    leftOut: {
      tables: index.tables.length - shown.length,
      patterns: learned.patterns.length - chosenPatterns.length,
      fixes: learned.fixes.length - chosenFixes.length,
      insights: learned.insights.length - insights.length,
      model_notes: learned.modelNotes.length - modelNotes.length,
    },
  };
}

interface ShownTable {
  readonly table: LinkableTable;
  readonly name: string;
  readonly line: string;
}

function chooseTables(question: string, index: TableIndex, ranked: readonly RankedTable[]) {
  const { tables } = index;
  const describe = (place: number): ShownTable[] => {
    const table = tables[place];
    return table === undefined
      ? []
      : [{ table, name: nameOf(table), line: describeTable(table, tables) }];
  };
  if (fitsWhole(index)) {
    return { shown: tables.flatMap((_, place) => describe(place)), isWhole: true };
  }
  const { chosen } = linkTables(question, index, RANKED_TABLES, ranked);
  const shown: ShownTable[] = [];
  const types = new Set<string>();
  let characters = 0;
  for (const each of chosen.flatMap(describe)) {
    const added = describeTypes([each.table]).filter((line) => !types.has(line));
    characters += [each.line, ...added].reduce((sum, { length }) => sum + length + 1, 0);
    if (characters > LINKED_SCHEMA_CHARACTERS) break;
    added.forEach((line) => types.add(line));
    shown.push(each);
  }
  return { shown, isWhole: false };
}

/** The texts that share the most words with the question, rare ones before common ones. */
function mostLike(question: string, texts: readonly string[], limit: number): string[] {
  const asked = new Set(wordsOf(question));
  const words = texts.map((text) => new Set(wordsOf(text)));
  const counts = new Map<string, number>();
  for (const word of words.flatMap((set) => [...set])) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return texts
    .map((text, place) => {
      const shared = [...words[place] ?? []].filter((word) => asked.has(word));
      const rarity = (word: string) => Math.log(1 + texts.length / (counts.get(word) ?? 1));
      return { text, place, score: shared.reduce((sum, word) => sum + rarity(word), 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .slice(0, limit)
    .map(({ text }) => text);
}

class TokenBudget {
  constructor(public left: number) {}

  /** As many of the first texts as fit. */
  take(texts: readonly string[]): string[] {
    const taken: string[] = [];
    for (const text of texts) {
      const tokens = estimateContextTokens(text);
      if (tokens > this.left) break;
      this.left -= tokens;
      taken.push(text);
    }
    return taken;
  }
}

/** The tables that a question needs. */
interface LinkedTables {
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
