import { definedOnly } from "../../platform/values/defined_only.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { errorField } from "../../platform/db/error_field.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { codeUnitIndex } from "../sql/code_unit_index.ts";
import { quoteName } from "../sql/schema/quote_name.ts";
import { type AdmittedStatement, fragmentAt } from "./judged_call.ts";
import { INSUFFICIENT_PRIVILEGE } from "./missing_rights.ts";
import type { StatementAnswer } from "./statement_request.ts";

/** An error of a statement, with the data that helps to fix it. */
export type StatementFailure = NonNullable<StatementAnswer["error"]>;

const UNDEFINED_COLUMN = "42703";
const UNDEFINED_TABLE = "42P01";
/**
 * Errors about constraints and the server (classes), and those that only definitions raise (codes).
 * All others may quote a value of any row, because a definition converts and checks the rows of all
 * users: also a missing name, which may have been a text before a conversion to `regclass`.
 */
const NAMES_NO_VALUES: ReadonlySet<string> = new Set(
  ("23 2B 40 53 55 57 42501 42611 42701 42703 42710 42804 42830 42846 42P07 42P10 42P16 42P17")
    .split(" "),
);
/** Classes of errors about objects, whose names may be in the statement. */
const ABOUT_OBJECTS: ReadonlySet<string> = new Set(["0A", "3F", "42", "54"]);
const UNFIT_VALUE = "a value of the statement or of a row does not fit";
/** The class of the codes of violated constraints. */
const CONSTRAINT_VIOLATIONS = "23";

/**
 * Describes a failed statement: the gateway's own errors unchanged, the database's with SQLSTATE,
 * position, fragment, hint and the names most similar to one that does not exist.
 *
 * @param sentPrefix The text sent before the statement, which error positions include.
 */
export async function statementFailure(
  call: AdmittedStatement,
  error: unknown,
  sentPrefix: string,
): Promise<SwarmError | StatementFailure> {
  const known = toSwarmError(error, "run the statement");
  const sqlstate = errorField(error, "code");
  if (known.code !== "INTERNAL" || sqlstate === undefined || !/^[0-9A-Z]{5}$/.test(sqlstate)) {
    return known;
  }
  const position = positionOf(error, sentPrefix, call.statement.text);
  const message = errorField(error, "message") ?? "";
  const mayQuoteRows = call.statementClass === "ddl" &&
    !quotesOnlyStatement(call, sqlstate, message, position !== null);
  const hint = mayQuoteRows ? undefined : errorField(error, "hint");
  const detail = mayQuoteRows ? undefined : shownDetail(sqlstate, errorField(error, "detail"));
  const nearest = mayQuoteRows ? [] : await nearestTo(call, sqlstate, message);
  const isMissingRight = sqlstate === INSUFFICIENT_PRIVILEGE && call.statementClass !== "read";
  return {
    code: isMissingRight ? "SQL_RIGHT_MISSING" : "SQL_FAILED",
    message: `PostgreSQL rejected the statement: ${mayQuoteRows ? UNFIT_VALUE : message}`,
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

/** Whether the message of a definition's error has no value of a row. */
function quotesOnlyStatement(
  { statement: { text } }: Pick<AdmittedStatement, "statement">,
  sqlstate: string,
  message: string,
  hasPosition: boolean,
): boolean {
  const kind = sqlstate.slice(0, 2);
  if (NAMES_NO_VALUES.has(kind) || NAMES_NO_VALUES.has(sqlstate)) return true;
  if (!ABOUT_OBJECTS.has(kind)) return false;
  // Only the analysis of the statement itself, which reads no rows, knows a position.
  if (hasPosition || (kind === "0A" && message.startsWith("cannot "))) return true;
  const quoted = [...message.matchAll(/"([^"]*)"/g)].map(([, name]) => name ?? "");
  return quoted.length > 0 && quoted.every((name) => text.includes(name));
}

/** The server counts the characters of what was sent, from 1. */
function positionOf(error: unknown, sentPrefix: string, statement: string): number | null {
  const sent = Number(errorField(error, "position"));
  const characters = sent - 1 - sentPrefix.length;
  return Number.isInteger(characters) && characters >= 0
    ? codeUnitIndex(statement, characters)
    : null;
}

/** Similar names among those that the caller may read. */
async function nearestTo(
  call: AdmittedStatement,
  sqlstate: string,
  message: string,
): Promise<string[]> {
  const missing = /"([^"]+)" does not exist|(\S+) does not exist/.exec(message)?.slice(1)
    .find((name) => name !== undefined)?.split(".").at(-1);
  if (missing === undefined) return [];
  if (sqlstate !== UNDEFINED_COLUMN && sqlstate !== UNDEFINED_TABLE) return [];
  const { context, settings, statement } = call;
  const tables = statement.named.relations.map(({ name }) => name);
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
  return nearestNames(missing, rows.map(({ name }) => name)).map(quoteName);
}
