import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** A column, as one role sees it. */
export interface ColumnShape {
  readonly name: string;
  /** The name, quoted by the server for SQL. */
  readonly quoted: string;
  /** The type in SQL syntax, for casts. */
  readonly type: string;
  readonly isKey: boolean;
  readonly isSelectable: boolean;
}

/** A published table, as one role sees it. */
export interface TableShape {
  readonly schema: string;
  readonly name: string;
  /** Schema and name, quoted by the server for SQL. */
  readonly quoted: string;
  readonly hasRowSecurity: boolean;
  readonly columns: readonly ColumnShape[];
}

interface ShapeRow {
  readonly schema: string;
  readonly name: string;
  readonly quoted: string;
  readonly has_row_security: boolean;
  readonly columns: readonly ColumnShape[];
}

/**
 * Describes the published tables that match a subscription, as `role` sees them.
 *
 * @param schema A name or `*`.
 * @param table A name or `*`.
 */
export async function publishedTables(
  sql: Sql,
  wanted: { readonly role: string; readonly schema: string; readonly table: string },
): Promise<TableShape[]> {
  const { role, schema, table } = wanted;
  const rows = await sql<ShapeRow[]>`
    select
      published.schemaname as schema,
      published.tablename as name,
      format('%I.%I', published.schemaname, published.tablename) as quoted,
      class.relrowsecurity as has_row_security,
      jsonb_agg(
        jsonb_build_object(
          'name', attribute.attname,
          'quoted', quote_ident(attribute.attname),
          'type', format_type(attribute.atttypid, attribute.atttypmod),
          'isKey', coalesce(attribute.attnum = any (key.indkey), false),
          'isSelectable', has_column_privilege(${role}::name, class.oid, attribute.attnum, 'SELECT')
        )
        order by attribute.attnum
      ) as columns
    from pg_publication_tables published
    join pg_class class
      on class.oid = format('%I.%I', published.schemaname, published.tablename)::regclass
    join pg_attribute attribute
      on attribute.attrelid = class.oid and attribute.attnum > 0 and not attribute.attisdropped
    left join pg_index key on key.indrelid = class.oid and key.indisprimary
    where published.pubname = 'supabase_realtime'
      and ${schema}::text in ('*', published.schemaname)
      and ${table}::text in ('*', published.tablename)
    group by published.schemaname, published.tablename, class.oid, class.relrowsecurity`;
  return rows.map(({ has_row_security, ...row }) => ({ ...row, hasRowSecurity: has_row_security }));
}
