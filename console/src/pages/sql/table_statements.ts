import { quoteName, sqlName } from "../../../../shared/servers/sql/schema/quote_name.ts";
import type { ReadableTable } from "../../queries/tables.ts";

/** A statement about a table, to begin with. */
export interface ExampleStatement {
  readonly label: string;
  readonly sql: string;
}

/** Columns by which rows are usually grouped. */
const GROUPING = /(^|_)(status|state|kind|type|category|role|name|slug|country|language)$/;
/** The usual names of the time at which a row began. */
const BEGINNING = /^(created|started|inserted|at|date|day)/;

/** A table's name in a statement, without the schema that is searched anyway. */
export function tableName({ schema_name: schema, name }: ReadableTable): string {
  return sqlName({ schema: schema === "public" ? null : schema, name });
}

/** Statements for a table that its columns allow. */
export function exampleStatements(table: ReadableTable): ExampleStatement[] {
  const from = `from ${tableName(table)}`;
  const times = table.columns.filter(({ type }) => /^(timestamp|date)/.test(type));
  const time = times.find(({ name }) => BEGINNING.test(name)) ?? times[0];
  const group = table.columns.find(({ name, type }) => type === "text" && GROUPING.test(name));
  const examples = [{
    label: time === undefined ? "Show rows" : "Newest rows",
    sql: time === undefined
      ? `select *\n${from}\nlimit 20`
      : `select *\n${from}\norder by ${quoteName(time.name)} desc nulls last\nlimit 20`,
  }];
  if (group !== undefined) {
    const column = quoteName(group.name);
    examples.push({
      label: `Count by ${group.name}`,
      sql:
        `select ${column}, count(*)\n${from}\ngroup by ${column}\norder by count(*) desc\nlimit 20`,
    });
  }
  if (time !== undefined) {
    examples.push({
      label: "Count by day",
      sql: `select ${quoteName(time.name)}::date as day, count(*)\n${from}\n` +
        "group by day\norder by day desc\nlimit 30",
    });
  }
  return examples;
}
