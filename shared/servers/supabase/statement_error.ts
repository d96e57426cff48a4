import { definedOnly } from "../../platform/values/defined_only.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { errorField } from "../../platform/db/error_field.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { type AdmittedCall, fragmentAt, tablesOf } from "./judged_call.ts";
import type { StatementAnswer } from "./statement_request.ts";

/** An error of a statement, with the data that helps to fix it. */
export type StatementFailure = NonNullable<StatementAnswer["error"]>;

const UNDEFINED_COLUMN = "42703";
const UNDEFINED_TABLE = "42P01";
/** The class of the codes of violated constraints. */
const CONSTRAINT_VIOLATIONS = "23";

/**
 * Describes a failed statement: the gateway's own errors unchanged, the database's with SQLSTATE,
 * position, fragment, hint and the names most similar to one that does not exist.
 *
 * @param sentPrefix The text sent before the statement, which error positions include.
 */
export async function statementFailure(
  call: AdmittedCall,
  error: unknown,
  sentPrefix: string,
): Promise<SwarmError | StatementFailure> {
  const known = toSwarmError(error, "run the statement");
  const sqlstate = errorField(error, "code");
  if (known.code !== "INTERNAL" || sqlstate === undefined || !/^[0-9A-Z]{5}$/.test(sqlstate)) {
    return known;
  }
  const position = positionOf(error, sentPrefix);
  const hint = errorField(error, "hint");
  const detail = shownDetail(sqlstate, errorField(error, "detail"));
  const nearest = await nearestTo(call, sqlstate, errorField(error, "message") ?? "");
  return {
    code: "SQL_FAILED",
    message: `PostgreSQL rejected the statement: ${errorField(error, "message")}`,
    sqlstate,
    position,
    fragment: fragmentAt(call.statement.text, position),
    ...definedOnly({ detail, hint }),
    ...(nearest.length === 0 ? {} : { nearest_names: nearest }),
  };
}

/**
 * The detail of a database error; none for a violated constraint, because it quotes the rows that
 * the constraint compares, which the caller may not see.
 */
export function shownDetail(sqlstate: string, detail: string | undefined): string | undefined {
  return sqlstate.startsWith(CONSTRAINT_VIOLATIONS) ? undefined : detail;
}

function positionOf(error: unknown, sentPrefix: string): number | null {
  const sent = Number(errorField(error, "position"));
  const position = sent - 1 - sentPrefix.length;
  return Number.isInteger(position) && position >= 0 ? position : null;
}

/** Similar names among those that the caller may read. */
async function nearestTo(call: AdmittedCall, sqlstate: string, message: string): Promise<string[]> {
  const missing = /"?([^"\s]+)"? does not exist/.exec(message)?.[1]?.split(".").at(-1);
  if (missing === undefined) return [];
  if (sqlstate !== UNDEFINED_COLUMN && sqlstate !== UNDEFINED_TABLE) return [];
  const { context, settings, statement } = call;
  const tables = tablesOf(statement).map((name) => name.split(".").at(-1) ?? name);
  const rows = await context.runAsCaller(async (sql) =>
    await sql<{ name: string }[]>`
      select distinct
        case when ${sqlstate === UNDEFINED_TABLE} then relation.relname else attribute.attname end
          as name
      from pg_catalog.pg_class as relation
      join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
      join pg_catalog.pg_attribute as attribute
        on attribute.attrelid = relation.oid and attribute.attnum > 0 and not attribute.attisdropped
      where ${sql.json(settings.exposed_schemas)} ? schema.nspname
        and relation.relkind in ('r', 'v', 'm', 'p', 'f')
        and (${sqlstate === UNDEFINED_TABLE} or ${sql.json(tables)} ? relation.relname)
        and pg_catalog.has_column_privilege(relation.oid, attribute.attnum, 'select')
      limit 5000`
  );
  return nearestNames(missing, rows.map(({ name }) => name));
}
