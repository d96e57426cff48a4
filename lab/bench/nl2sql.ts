import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { estimateContextTokens } from "../../shared/servers/sql/context/choose_context.ts";
import { describeTable } from "../../shared/servers/sql/linking/compact_schema.ts";
import type { LinkableTable } from "../../shared/servers/sql/linking/linkable_table.ts";
import { linkTables } from "../../shared/servers/sql/context/choose_context.ts";
import { indexTables, type TableIndex } from "../../shared/servers/sql/linking/rank_tables.ts";
import { toLinkable } from "../../shared/servers/sql/linking/to_linkable.ts";
import type { DatabaseSchema } from "../../shared/servers/sql/schema/database_schema.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { DEFOG_SCHEMAS, type GoldQuestion, loadDefog, readDefogData } from "./nl2sql/defog_data.ts";
import { mutateQuery } from "./nl2sql/mutate_query.ts";
import { withRenamedCopies } from "./nl2sql/renamed_tables.ts";
import { openQueueDatabase } from "./queue_database.ts";
import { serverVersion } from "./server_version.ts";

const LARGE_TABLE_COUNT = 876;
const SEED = 7;

/** A question with the tables that its query reads, as positions in an index. */
interface LinkedQuestion {
  readonly schema: string;
  readonly question: string;
  readonly sql: string;
  readonly gold: readonly string[];
}

/**
 * `generate_sql` without a model, on defog's questions: whether the context has the tables that a
 * question needs, the cost in tokens, and what its validation catches.
 *
 * @param db `native` or a URL.
 */
export async function benchNl2sql(db: string): Promise<BenchResult> {
  const data = await readDefogData();
  if (data === null) {
    throw new Error("Cannot run the benchmark nl2sql: the folder ../shared/data/defog is missing");
  }
  await using database = await openQueueDatabase(db);
  const { sql } = database;
  await loadDefog(sql, data);
  const schemas = new Map<string, readonly LinkableTable[]>();
  for (const schema of DEFOG_SCHEMAS) schemas.set(schema, await readTables(sql, schema));
  const questions = await Promise.all(data.questions.map(withGoldTables));

  const indexes = new Map([...schemas].map(([schema, tables]) => [schema, indexTables(tables)]));
  const small = (k: number) =>
    linkedShare(questions, k, ({ schema }) => indexes.get(schema), () => 0);
  const large = indexTables(withRenamedCopies([...schemas.values()], LARGE_TABLE_COUNT, SEED));
  const starts = startsOf(schemas);
  const atLarge = (k: number) =>
    linkedShare(questions, k, () => large, ({ schema }) => starts.get(schema) ?? 0);
  const figures = {
    questions: questions.length,
    k3_share: small(3),
    k5_share: small(5),
    k8_share: small(8),
    large_tables: large.tables.length,
    large_k5_share: atLarge(5),
    large_k10_share: atLarge(10),
    large_k20_share: atLarge(20),
    large_k40_share: atLarge(40),
    large_full_tokens: tokensOf(large, large.tables.map((_, place) => place)),
    large_k20_tokens: rounded(meanTokens(questions, large, 20)),
    ...await validate(sql, questions, schemas),
  };
  // The first three targets and the caught share are the results of BM25 with declared keys on all
  // of defog's databases. The large one is its result on 876 tables of many small databases.
  const targets = {
    k3_share: { min: 0.939 },
    k5_share: { min: 0.981 },
    k8_share: { min: 0.994 },
    large_k20_share: { min: 0.972 },
    mutated_caught_share: { min: 0.995 },
    gold_refused: { max: 0 },
  };
  return judge("nl2sql", figures, targets, {
    versions: await serverVersion(sql),
    notes: [
      "The share of questions about six of defog's databases whose query reads only tables in the context, which has k tables chosen by words and the tables that keys join to them. The databases declare hardly any keys, so keys are inferred from names; remarks in their DDL become column comments.",
      `The large schema has the six databases and renamed copies of them, ${LARGE_TABLE_COUNT} tables: in each copy, every word of a name except the most common ones is replaced by a random word of the six schemas or of other businesses (seed ${SEED}). PostgreSQL folds names to lower case, so words of a name such as sbdailyprice cannot be distinguished.`,
      "Tokens are estimated at four characters each, with one line per table. Mutated queries are the gold queries with one of twelve mistakes each; a mistake is caught if the grammar, the policy or EXPLAIN refuses the query. Queries that are not caught are still valid.",
    ],
  });
}

async function readTables(sql: Sql, schema: string): Promise<readonly LinkableTable[]> {
  const [row] = await sql.begin("read only", async (transaction) => {
    await transaction`set local role authenticated`;
    return await transaction<{ content: DatabaseSchema }[]>`
      select private.describe_schema(${transaction.json([schema])}) as content`;
  });
  return toLinkable(row?.content ?? { relations: [], enums: [], types: [] });
}

async function withGoldTables(question: GoldQuestion): Promise<LinkedQuestion> {
  const { statement, findings } = await judgeSql(question.sql);
  if (statement === null) {
    throw new Error(`A gold query is refused: ${findings[0]?.reason} in ${question.sql}`);
  }
  const gold = new Set(statement.named.relations.map(({ name }) => name.toLowerCase()));
  return { ...question, gold: [...gold] };
}

function judgeSql(sql: string) {
  return classifySql(sql, {
    exposedSchemas: ["public", ...DEFOG_SCHEMAS],
    readFunctions: [],
    writeFunctions: [],
  });
}

/** Returns the start of each schema's tables in the list of all tables. */
function startsOf(schemas: ReadonlyMap<string, readonly LinkableTable[]>): Map<string, number> {
  const starts = new Map<string, number>();
  let next = 0;
  for (const [schema, tables] of schemas) {
    starts.set(schema, next);
    next += tables.length;
  }
  return starts;
}

function linkedShare(
  questions: readonly LinkedQuestion[],
  count: number,
  indexOf: (question: LinkedQuestion) => TableIndex | undefined,
  startOf: (question: LinkedQuestion) => number,
): number {
  const linked = questions.filter((question) => {
    const index = indexOf(question);
    if (index === undefined) return false;
    const chosen = new Set(linkTables(question.question, index, count).chosen);
    return question.gold.every((name) => {
      const place = index.tables.findIndex((table, place) =>
        place >= startOf(question) && table.schema === question.schema &&
        table.name.toLowerCase() === name
      );
      return place >= 0 && chosen.has(place);
    });
  });
  return rounded(linked.length / questions.length);
}

function meanTokens(
  questions: readonly LinkedQuestion[],
  index: TableIndex,
  count: number,
): number {
  const tokens = questions.map(({ question }) =>
    tokensOf(index, linkTables(question, index, count).chosen)
  );
  return tokens.reduce((sum, tokens) => sum + tokens, 0) / questions.length;
}

function tokensOf({ tables }: TableIndex, chosen: readonly number[]): number {
  const lines = chosen.flatMap((place) => {
    const table = tables[place];
    return table === undefined ? [] : [describeTable(table, tables)];
  });
  return estimateContextTokens(lines.join("\n"));
}

/** Runs the validation of `generate_sql` on gold queries and on mutated ones. */
async function validate(
  sql: Sql,
  questions: readonly LinkedQuestion[],
  schemas: ReadonlyMap<string, readonly LinkableTable[]>,
) {
  let [goldRefused, mutatedCount, mutatedCaught] = [0, 0, 0];
  for (const { schema, sql: gold } of questions) {
    if (!await isValid(sql, schema, gold)) goldRefused++;
    const names = schemas.get(schema)?.map(({ name }) => name) ?? [];
    const used = names.filter((name) => new RegExp(`\\b${name}\\b`, "i").test(gold));
    for (const { sql: mutated } of mutateQuery(gold, used)) {
      mutatedCount++;
      if (!await isValid(sql, schema, mutated)) mutatedCaught++;
    }
  }
  return {
    gold_refused: goldRefused,
    mutated_queries: mutatedCount,
    mutated_caught_share: Number((mutatedCaught / mutatedCount).toFixed(4)),
  };
}

async function isValid(sql: Sql, schema: string, text: string): Promise<boolean> {
  const { statementClass, statement } = await judgeSql(text);
  if (statementClass !== "read" || statement === null) return false;
  try {
    await sql.begin("read only", async (transaction) => {
      await transaction`
        select set_config('search_path', ${`pg_catalog, ${schema}`}, true)`;
      await transaction`set local role authenticated`;
      await transaction.unsafe(`explain ${statement.text}`, [], { prepare: false });
    });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && /^\d|^[A-Z0-9]{5}$/.test(String(error.code))) {
      return false;
    }
    throw error;
  }
}
