import type { TransactionSql } from "../../vendor/postgres.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { sqlName } from "../sql/schema/quote_name.ts";
import { isCatalog } from "../sql/name_rules.ts";
import type { AdmittedStatement } from "./judged_call.ts";

/**
 * Whether the statement that this transaction has just planned or run reads a relation with rows
 * that the caller may not see. System catalogs count, because statistics describe all their rows.
 */
export async function readsHiddenRows(
  { statement }: Pick<AdmittedStatement, "statement">,
  sql: TransactionSql,
): Promise<boolean> {
  if (statement.named.relations.some(({ schema, name }) => isCatalog(schema, name))) return true;
  const [row] = await sql`select private.reads_hidden_rows() as is_hidden`;
  return row?.is_hidden !== false;
}

/**
 * Refuses to show the output of an `EXPLAIN` that has just run.
 *
 * @throws SwarmError `SQL_FORBIDDEN` if it depends on rows that the caller may not see.
 */
export async function assertShowsNoHiddenRows(
  call: Pick<AdmittedStatement, "statement">,
  sql: TransactionSql,
): Promise<void> {
  if (!await readsHiddenRows(call, sql)) return;
  throw new SwarmError(
    "SQL_FORBIDDEN",
    "Cannot show the plan: it depends on rows that you may not see",
    {
      hint: "EXPLAIN works on tables without row level security whose rows you may all read. " +
        "A dry run checks that PostgreSQL can plan any other statement.",
    },
  );
}

/**
 * Refuses `TABLESAMPLE` of a table that hides rows from the caller: which of the visible rows it
 * chooses depends on their place among the others.
 *
 * @throws SwarmError `SQL_FORBIDDEN`
 */
export async function assertSamplesNothingHidden(
  { statement: { named: { sampled } } }: Pick<AdmittedStatement, "statement">,
  sql: TransactionSql,
): Promise<void> {
  for (const { schema, name } of sampled) {
    const [row] = await sql<{ is_hidden: boolean | null }[]>`
      select private.hides_rows_by_policy(pg_catalog.to_regclass(${sqlName({ schema, name })}))
        as is_hidden`;
    if (row?.is_hidden !== true) continue;
    throw new SwarmError(
      "SQL_FORBIDDEN",
      `Cannot sample ${sqlName({ schema, name })}: the sample depends on rows that you may not see`,
      { hint: "Choose rows with ORDER BY random() LIMIT, or by a condition." },
    );
  }
}

/**
 * Refuses `EXPLAIN ANALYZE` of a write or a definition: it also measures triggers and foreign keys,
 * which read rows of other tables.
 *
 * @throws SwarmError `SQL_FORBIDDEN`
 */
export function assertRunsUnmeasured({ statement, statementClass }: AdmittedStatement): void {
  if (!statement.isExplain || statementClass === "read") return;
  throw new SwarmError(
    "SQL_FORBIDDEN",
    "Cannot run the statement: EXPLAIN ANALYZE would show numbers about rows that you may not see",
    {
      hint: "Omit ANALYZE to plan the statement, or send the statement without EXPLAIN to run it.",
    },
  );
}
