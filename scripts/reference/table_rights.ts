import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** A right of signed-in users or of the secret key. */
export type Right = "select" | "insert" | "update" | "delete";

/** A column of a table or view, with the rights of signed-in users. */
export interface DocumentedColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string | null;
  /** A subset of `select`, `insert` and `update`. */
  readonly userRights: readonly Right[];
}

/** A table or view of schema `public` with its rights. */
export interface DocumentedTable {
  readonly name: string;
  readonly kind: "table" | "view";
  readonly comment: string;
  readonly columns: readonly DocumentedColumn[];
  readonly userMayDelete: boolean;
  readonly serviceRights: readonly Right[];
  /** Policies of row level security for signed-in users. */
  readonly policies: readonly { readonly name: string; readonly comment: string }[];
}

/** Reads every table and view of `public` that does not belong to an extension, by name. */
export async function readTableRights(sql: Sql): Promise<readonly DocumentedTable[]> {
  return [
    ...await sql<DocumentedTable[]>`
    select relation.relname as name,
      case when relation.relkind in ('r', 'p') then 'table' else 'view' end as kind,
      obj_description(relation.oid, 'pg_class') as comment,
      has_table_privilege('authenticated', relation.oid, 'delete') as "userMayDelete",
      (
        select jsonb_agg(wanted.name order by wanted.place)
          filter (where has_table_privilege('service_role', relation.oid, wanted.name))
        from unnest('{select,insert,update,delete}'::text[]) with ordinality as wanted (name, place)
      ) as "serviceRights",
      (
        select jsonb_agg(jsonb_build_object(
          'name', attribute.attname,
          'type', format_type(attribute.atttypid, attribute.atttypmod),
          'comment', col_description(relation.oid, attribute.attnum),
          'userRights', (
            select coalesce(jsonb_agg(wanted.name order by wanted.place), '[]')
            from unnest('{select,insert,update}'::text[]) with ordinality as wanted (name, place)
            where has_column_privilege('authenticated', relation.oid, attribute.attnum, wanted.name)
          )
        ) order by attribute.attnum)
        from pg_attribute as attribute
        where attribute.attrelid = relation.oid and attribute.attnum > 0
          and not attribute.attisdropped
      ) as columns,
      (
        select coalesce(
          jsonb_agg(jsonb_build_object(
            'name', policy.polname, 'comment', obj_description(policy.oid, 'pg_policy')
          ) order by policy.polcmd, policy.polname),
          '[]'
        )
        from pg_policy as policy
        where policy.polrelid = relation.oid
          and 'authenticated'::regrole::oid = any (policy.polroles)
      ) as policies
    from pg_class as relation
    where relation.relnamespace = 'public'::regnamespace
      and relation.relkind in ('r', 'p', 'v', 'm') and not relation.relispartition
      and not exists (select from pg_depend where objid = relation.oid and deptype = 'e')
    order by relation.relname`,
  ];
}
