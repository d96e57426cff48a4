import type { TransactionSql } from "../../vendor/postgres.js";
import { classifySql } from "../sql/classify_sql.ts";
import { CLOSED_SCHEMAS } from "../sql/definition_limits.ts";
import { sqlName } from "../sql/schema/quote_name.ts";
import type { Definition, SqlStatement } from "../sql/verdict.ts";
import { guardSettings, sendOne } from "./guarded_transaction.ts";
import { type AdmittedStatement, tablesOf } from "./judged_call.ts";
import { answerOnce, writeOnce } from "./sql_confirmation.ts";
import { policyOf, type SqlSettings } from "./sql_settings.ts";
import { confirmedStatement } from "./statement_hashes.ts";
import { type StatementAnswer, statementAnswer } from "./statement_request.ts";
import { assertCallsOnlyListed } from "./unlisted_calls.ts";

/** A call whose statement is a definition. */
export interface DefinitionCall extends AdmittedStatement {
  readonly definition: Definition;
}

/** A call of a definition; null for a read or a write. */
export function definitionOf(call: AdmittedStatement): DefinitionCall | null {
  const { statement: { definition } } = call;
  return definition === null ? null : { ...call, definition };
}

/**
 * Why the caller cannot run a definition, as a sentence; null if it is within the limits and the
 * caller is an operator. An agent never is.
 */
export async function whyOnlyProposed(call: DefinitionCall): Promise<string | null> {
  const { context, request, settings, definition } = call;
  if (definition.limit !== null) return definition.limit;
  if (!settings.confirmable_definitions.includes(definition.kind)) {
    return `The SQL policy does not allow a ${definition.kind}.`;
  }
  // Functions of the project would run with the rights of the migrations.
  const policy = { ...policyOf(settings), readFunctions: [], writeFunctions: [] };
  const { statementClass, findings: [finding] } = await classifySql(request.sql, policy);
  if (statementClass !== "ddl") return finding?.reason ?? "The statement is not a definition.";
  const [caller] = await context.runAsCaller(async (sql) =>
    await sql<{ is_operator: boolean }[]>`select private.is_operator() as is_operator`
  );
  return caller?.is_operator === true
    ? null
    : "Only operators change the schema; agents do not act as operators.";
}

/**
 * Checks that a definition can succeed: what it names exists or is free, the migration role may
 * define it, and it is none of the platform's.
 *
 * @throws SwarmError `SQL_RIGHT_MISSING`, `SQL_FORBIDDEN`, `SQL_FAILED`; `MIGRATION_REQUIRED` if the
 * caller is no operator.
 */
export async function checkDefinition(call: DefinitionCall): Promise<void> {
  await assertListed(call);
  await call.context.runAsOperator((sql) => assertDefinable(call, sql), {
    settings: definitionSettings(call.settings),
  });
}

/**
 * Runs a confirmed definition with the rights of the migrations. Token, definition, the record of the
 * operator's act and the answer are one transaction, which changes nothing of the platform.
 *
 * @throws SwarmError `CONFIRMATION_INVALID`, `APPROVAL_REQUIRED`, and those of
 * {@linkcode checkDefinition}; errors of the database.
 */
export async function runDefinition(call: DefinitionCall, token: string): Promise<StatementAnswer> {
  const { context, request, settings, statement } = call;
  const confirmed = confirmedStatement(call, token);
  return await answerOnce(confirmed, statementAnswer, async () => {
    await assertListed(call);
    return await context.runAsOperator(
      (sql) =>
        writeOnce(sql, confirmed, async (_maxRows, confirmationId) => {
          await assertDefinable(call, sql);
          const isNew = await define(call, sql);
          await sql`select private.record_definition(${confirmationId}, ${statement.text})`;
          return {
            statement_class: "ddl",
            dry_run: false,
            statement: statement.text,
            tables: tablesOf(statement),
            affected_rows: 0,
            ...(isNew && createsTable(call.definition) ? { warnings: [ROWS_ARE_HIDDEN] } : {}),
          };
        }),
      {
        isReadOnly: false,
        statementTimeoutMs: Math.min(request.timeout, settings.statement_timeout_ms),
        settings: definitionSettings(settings),
      },
    );
  });
}

/** What happens to a new table, for people who confirm it. */
export const ROWS_ARE_HIDDEN =
  "Row level security is enabled on the new table: signed-in users see its columns, but neither see " +
  "nor write rows until a migration creates policies.";

/** Whether the statement creates a table. */
export function createsTable({ kind }: Pick<Definition, "kind">): boolean {
  return kind === "CreateStmt";
}

async function assertListed(call: DefinitionCall): Promise<void> {
  const settings = { ...call.settings, read_functions: [], write_functions: [] };
  await assertCallsOnlyListed({ ...call, settings });
}

/** Runs the definition; returns whether it created a relation. */
async function define(
  { definition, settings, statement }: DefinitionCall,
  sql: TransactionSql,
): Promise<boolean> {
  const schemas = sql.json(openSchemas(settings));
  const created = definition.targets.find(({ effect }) => effect === "create");
  const name = created === undefined ? null : sqlName(created);
  const [before] = await sql<{ state: string; is_free: boolean }[]>`
    select private.protected_definitions(${schemas}) as state, to_regclass(${name}) is null as is_free`;
  await sendOne(sql, statement.text);
  await sql`select private.assert_spared(${before?.state ?? ""}, ${schemas})`;
  const isNew = name !== null && before?.is_free === true && OPENED.has(definition.kind);
  if (isNew) await sql`select private.open_new_relation(to_regclass(${name}))`;
  return isNew;
}

/** Statements that create relations with rows. */
const OPENED: ReadonlySet<string> = new Set(["CreateStmt", "ViewStmt"]);

async function assertDefinable(
  { definition: { targets }, settings }: DefinitionCall,
  sql: TransactionSql,
): Promise<void> {
  const named = targets.map(({ kind, schema, name, effect, mayExist, mayMiss }) => ({
    kind,
    schema,
    name,
    effect,
    may_exist: mayExist,
    may_miss: mayMiss,
    quoted: sqlName({ schema, name }),
  }));
  await sql`
    select private.assert_definable(
      p_target => target,
      p_relation_id => to_regclass(target ->> 'quoted'),
      p_type_id => to_regtype(target ->> 'quoted'),
      p_schemas => ${sql.json(openSchemas(settings))}
    )
    from jsonb_array_elements(${sql.json(named)}::jsonb) as target`;
}

/** Names without a schema mean what they mean in the caller's own statements. */
function definitionSettings(settings: SqlSettings): Readonly<Record<string, string>> {
  return guardSettings({ exposed_schemas: openSchemas(settings) });
}

function openSchemas({ exposed_schemas }: Pick<SqlSettings, "exposed_schemas">): string[] {
  return exposed_schemas.filter((schema) => !CLOSED_SCHEMAS.has(schema));
}

/** The name of a file for a definition, such as `create_table_notes`. */
export function slugOf({ kind }: SqlStatement, { targets }: Definition): string {
  const action = kind.replace(/Stmt$/, "").replace(/(?<=[a-z])(?=[A-Z])/g, "_");
  const [first] = targets.filter(({ effect }) => effect !== "use");
  const words = `${action}_${first?.name ?? ""}`.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  return words.replace(/^_+|_+$/g, "").slice(0, 60);
}
