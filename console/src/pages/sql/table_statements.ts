import type { ReadableTable } from "../../queries/tables.ts";

/** A statement about a table, to begin with. */
export interface ExampleStatement {
  readonly label: string;
  readonly sql: string;
}

/** Names that Postgres reserves: as identifiers they need quotes. */
const RESERVED = new Set(
  ("all analyse analyze and any array as asc asymmetric both case cast check collate column " +
    "constraint create current_date current_role current_time current_timestamp current_user " +
    "default deferrable desc distinct do else end except false fetch for foreign from grant group " +
    "having in initially intersect into lateral leading limit localtime localtimestamp not null " +
    "offset on only or order placing primary references returning select session_user some " +
    "symmetric table then to trailing true union unique user using variadic when where window with")
    .split(" "),
);
/** Columns by which rows are usually grouped. */
const GROUPING = /(^|_)(status|state|kind|type|category|role|name|slug|country|language)$/;
/** The usual names of the time at which a row began. */
const BEGINNING = /^(created|started|inserted|at|date|day)/;

/** A name as it is written in a statement. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) && !RESERVED.has(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

/** A table's name in a statement, without the schema that is searched anyway. */
export function tableName({ schema_name: schema, name }: ReadableTable): string {
  return schema === "public" ? quoteName(name) : `${quoteName(schema)}.${quoteName(name)}`;
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
