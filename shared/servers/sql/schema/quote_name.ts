/**
 * The keywords for which `quote_ident()` of some supported server (PostgreSQL 15 to 18) adds quotes: all
 * but those that `pg_get_keywords()` calls unreserved. Quotes are never wrong, so one list suffices.
 */
const RESERVED: ReadonlySet<string> = new Set(
  ("all analyse analyze and any array as asc asymmetric authorization between bigint binary bit " +
    "boolean both case cast char character check coalesce collate collation column concurrently " +
    "constraint create cross current_catalog current_date current_role current_schema " +
    "current_time current_timestamp current_user dec decimal default deferrable desc distinct do " +
    "else end except exists extract false fetch float for foreign freeze from full grant greatest " +
    "group grouping having ilike in initially inner inout int integer intersect interval into is " +
    "isnull join json json_array json_arrayagg json_exists json_object json_objectagg json_query " +
    "json_scalar json_serialize json_table json_value lateral leading least left like limit " +
    "localtime localtimestamp merge_action national natural nchar none normalize not notnull null " +
    "nullif numeric offset on only or order out outer overlaps overlay placing position precision " +
    "primary real references returning right row select session_user setof similar smallint some " +
    "substring symmetric system_user table tablesample then time timestamp to trailing treat trim " +
    "true union unique user using values varchar variadic verbose when where window with " +
    "xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot " +
    "xmlserialize xmltable").split(" "),
);

/**
 * A name in SQL, quoted if necessary.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(quoteName("orders"), "orders");
 * assert.equal(quoteName('Order "lines"'), '"Order ""lines"""');
 * assert.equal(quoteName("order"), '"order"');
 * ```
 */
export function quoteName(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_$]*$/.test(name) && !RESERVED.has(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

/** A name in SQL with its schema, if it has one. */
export function sqlName(
  { schema, name }: { readonly schema: string | null; readonly name: string },
): string {
  return schema === null ? quoteName(name) : `${quoteName(schema)}.${quoteName(name)}`;
}

/** A string literal in SQL, independent of `standard_conforming_strings`. */
export function quoteText(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return doubled.includes("\\") ? `E'${doubled.replaceAll("\\", "\\\\")}'` : `'${doubled}'`;
}
