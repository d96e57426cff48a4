import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { ChangeCondition, ChangeOperator } from "./change_filter.ts";
import { toClientJson } from "./client_setting.ts";
import type { Identity } from "./identity.ts";
import type { TableShape } from "./table_shape.ts";

/** The conditions of a filter. All of them must hold. */
export type Conditions = readonly ChangeCondition[];

/** A check of rows of one table for one client. */
export interface RowCheck {
  readonly table: TableShape;
  readonly identity: Identity;
  /** Whether to also check that the client can read each row. */
  readonly checksPolicies: boolean;
  readonly filters: readonly Conditions[];
  readonly rows: readonly JsonObject[];
}

/** The result of a check for one row. */
export interface RowResult {
  readonly isVisible: boolean;
  /** One result for each filter of the check, in the same order. */
  readonly matches: readonly boolean[];
}

const COMPARISONS: Readonly<Partial<Record<ChangeOperator, string>>> = {
  eq: "=",
  neq: "<>",
  lt: "<",
  lte: "<=",
  gt: ">",
  gte: ">=",
  like: "like",
  ilike: "ilike",
  match: "~",
  imatch: "~*",
};
const IS_VALUES = ["null", "true", "false", "unknown"];

/**
 * Checks as the client which rows it can read and which filters they match. Postgres compares with
 * the columns' types. Errors of policies and casts are thrown.
 *
 * Identifiers in the SQL come quoted from the catalog. Values are sent as arguments.
 */
export async function checkRows(sql: Sql, check: RowCheck): Promise<RowResult[]> {
  const { table, identity, rows, checksPolicies } = check;
  const values: string[] = [];
  const filters = check.filters.map((conditions) =>
    conjunction(conditions.map((condition) => comparison(table, condition, values)))
  );
  const text = `
    select jsonb_agg(
      jsonb_build_object(
        'isVisible', ${checksPolicies ? visibility(table) : "true"},
        'matches', jsonb_build_array(${filters.join(", ")}))
      order by asked.position)
    from jsonb_array_elements($1 -> 'rows') with ordinality as asked (changed, position)
    cross join lateral jsonb_populate_record(null::${table.quoted}, asked.changed) as row`;
  const [row] = await sql<{ results: RowResult[] }[]>`
    select realtime.ask_as_client(
      ${toClientJson({ identity })}::text::jsonb,
      ${text},
      ${JSON.stringify({ rows, values })}::text::jsonb) as results`;
  return row?.results ?? [];
}

/**
 * Returns why a filter cannot be used on the table, or `null` if it can. Postgres evaluates it on
 * an empty row, so that it cannot fail later.
 */
export async function filterError(
  sql: Sql,
  filter: { table: TableShape; identity: Identity; conditions: Conditions },
): Promise<string | null> {
  const { table, identity, conditions } = filter;
  for (const { column, operator, value } of conditions) {
    if (!table.columns.some(({ name, isSelectable }) => name === column && isSelectable)) {
      return `invalid column for filter ${column}`;
    }
    if (operator === "is" && !IS_VALUES.includes(value)) {
      return "invalid value for is filter: must be null, true, false, or unknown";
    }
  }
  if (conditions.length === 0) return null;
  try {
    await checkRows(sql, {
      table,
      identity,
      checksPolicies: false,
      filters: [conditions],
      rows: [{}],
    });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function visibility(table: TableShape): string {
  const keys = table.columns.filter(({ isKey }) => isKey)
    .map(({ quoted }) => `readable.${quoted} = row.${quoted}`);
  return `exists (select from ${table.quoted} as readable where ${keys.join(" and ")})`;
}

function conjunction(conditions: readonly string[]): string {
  return conditions.length === 0 ? "true" : `coalesce(${conditions.join(" and ")}, false)`;
}

function comparison(table: TableShape, condition: ChangeCondition, values: string[]): string {
  const { operator, value, isNegated } = condition;
  const column = table.columns.find(({ name }) => name === condition.column);
  // The column was dropped after the subscription, so nothing can match.
  if (column === undefined) return "false";
  const left = `row.${column.quoted}`;
  if (operator === "is") {
    const keyword = IS_VALUES.find((known) => known === value) ?? "null";
    return `${left} is ${isNegated ? "not " : ""}${keyword}`;
  }
  const right = `($1 #>> '{values,${values.push(value) - 1}}')`;
  if (operator === "isdistinct") {
    return `${left} is ${isNegated ? "not " : ""}distinct from ${right}::${column.type}`;
  }
  const test = operator === "in"
    ? `${left} = any (${right}::${column.type}[])`
    : `${left} ${COMPARISONS[operator]} ${right}::${column.type}`;
  return isNegated ? `not (${test})` : test;
}
