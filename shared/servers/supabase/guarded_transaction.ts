import type { TransactionSql } from "../../vendor/postgres.js";
import { SHORT_CHARACTERS } from "../sql/guarded_calls.ts";
import { quoteName } from "../sql/schema/quote_name.ts";
import { EXTENSIONS_SCHEMA } from "../sql/sql_policy.ts";
import type { StatementParameter } from "./document_parameter.ts";
import { assertSamplesNothingHidden } from "./hidden_rows.ts";
import type { AdmittedStatement } from "./judged_call.ts";
import type { SqlSettings } from "./sql_settings.ts";
import { assertCallsOnlyListed } from "./unlisted_calls.ts";

/** How long a statement waits for a lock. */
const LOCK_TIMEOUT_MS = 2_000;

/** Options that make the driver use the extended protocol, which accepts only one statement. */
const ONE_STATEMENT = { simple: false, prepare: false } as const;

/** A value as the server sends it, in PostgreSQL's text form. */
export type RawValue = Uint8Array | null;

/** Rows of a statement, with the server's column descriptions. */
export interface RawRows extends ReadonlyArray<RawValue[]> {
  readonly columns: readonly { readonly name: string; readonly type: number }[];
  readonly count: number;
}

/**
 * Runs work as the caller with the database's own protections: the caller's role and claims on a
 * separate login, timeouts, and a search_path with the policy's schemas.
 *
 * @throws SwarmError `CALLER_REQUIRED`, `SQL_FORBIDDEN` for a statement that could run a function
 * that the policy does not list, or whose sample would tell about hidden rows; errors of the database.
 */
export async function runGuarded<T>(
  call: AdmittedStatement,
  isReadOnly: boolean,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  const { context, request, settings } = call;
  await assertCallsOnlyListed(call);
  const statementTimeoutMs = Math.min(request.timeout, settings.statement_timeout_ms);
  return await context.runAsCaller(async (sql) => {
    await assertSamplesNothingHidden(call, sql);
    return await work(sql);
  }, {
    isReadOnly,
    statementTimeoutMs,
    settings: guardSettings(settings, await guardSchemas(call)),
  });
}

/** None for a definition, which would keep the functions that it finds there. */
async function guardSchemas(call: AdmittedStatement): Promise<string[]> {
  const { context: { sql }, settings, statement, statementClass, request } = call;
  if (statementClass === "ddl") return [];
  const isLong = request.params.some((value) => JSON.stringify(value).length > SHORT_CHARACTERS);
  const guards = statement.guards
    .filter(({ isForLongParameters }) => isLong || !isForLongParameters);
  if (!guards.some(({ isUnlessIndexed }) => isUnlessIndexed)) return guards.map(({ name }) => name);
  const relations = statement.named.relations.map(({ name }) => name);
  const [row] = await sql<{ is_indexed: boolean }[]>`
    select private.indexes_words(${sql.json({ schemas: settings.exposed_schemas, relations })})
      as is_indexed`;
  return guards
    .filter(({ isUnlessIndexed }) => !isUnlessIndexed || row?.is_indexed !== true)
    .map(({ name }) => name);
}

/**
 * Settings of a transaction that runs a caller's statement.
 *
 * @param before Schemas that are searched before PostgreSQL's own. @default none
 */
export function guardSettings(
  { exposed_schemas }: Pick<SqlSettings, "exposed_schemas">,
  before: readonly string[] = [],
): Readonly<Record<string, string>> {
  return {
    search_path: searchPath([
      ...(before.length === 0 ? [] : [...before, "pg_catalog"]),
      ...exposed_schemas,
      EXTENSIONS_SCHEMA,
    ]),
    standard_conforming_strings: "on",
    lock_timeout: `${LOCK_TIMEOUT_MS}ms`,
  };
}

/** Sends one statement; PostgreSQL rejects a text with several. */
export async function sendOne(
  sql: TransactionSql,
  statement: string,
  parameters: readonly StatementParameter[] = [],
): Promise<RawRows> {
  // The driver serializes a parameter as text or JSON, depending on the server's type.
  const query = sql.unsafe(statement, [...parameters] as (string | null)[], ONE_STATEMENT);
  return await query.raw() as unknown as RawRows;
}

/**
 * PostgreSQL searches `pg_catalog` first, because the path does not contain it, so that no table or
 * type of the project shadows a system one. A new object without a schema goes into the first one.
 */
function searchPath(schemas: readonly string[]): string {
  return schemas.map(quoteName).join(", ");
}
