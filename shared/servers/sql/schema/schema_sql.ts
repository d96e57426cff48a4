import {
  isTable,
  qualifiedName,
  type SchemaColumn,
  type SchemaConstraint,
  type SchemaEnum,
  type SchemaFunction,
  type SchemaPolicy,
  type SchemaRelation,
} from "./database_schema.ts";
import { quoteName, quoteText } from "./quote_name.ts";
import type { SchemaAdvisory } from "./schema_advisories.ts";
import type { SchemaDocument } from "./schema_document.ts";

/**
 * A page of a schema as SQL definitions, for reading and for a scratch database: types, tables,
 * then foreign keys, indexes, policies, views and comments. Function bodies are not included.
 */
export function schemaSql(document: SchemaDocument): string {
  const { relations, relationships } = document;
  const tables = relations.filter(isTable);
  const parts = [
    ...document.enums.map(enumSql),
    ...tables.map(tableSql),
    ...(relationships === null ? [] : tables.flatMap(foreignKeysSql)),
    ...tables.flatMap(({ indexes }) =>
      indexes.filter(({ is_constraint }) => !is_constraint).map(({ definition }) =>
        `${definition};`
      )
    ),
    ...tables.flatMap(rowSecuritySql),
    ...relations.filter((relation) => !isTable(relation)).map(viewSql),
    ...relations.flatMap(commentsSql),
    ...document.functions.map(functionLine),
    ...document.advisories.map(advisoryLine),
    remark(document.analysis),
  ];
  return [headOf(document), ...parts].join("\n\n") + "\n";
}

function headOf({ relations, offset, total, nextCursor, schemaHash }: SchemaDocument): string {
  const more = nextCursor === null ? "" : `; next page: cursor ${nextCursor}`;
  return remark(
    `Tables and views ${Math.min(offset + 1, total)} to ${offset + relations.length} of ${total}` +
      `${more}. Schema hash ${schemaHash.slice(0, 16)}.`,
  );
}

function enumSql({ schema, name, values }: SchemaEnum): string {
  return `create type ${nameOf({ schema, name })} as enum (${values.map(quoteText).join(", ")});`;
}

function tableSql(table: SchemaRelation): string {
  const lines = [
    ...table.columns.map(columnSql),
    ...table.constraints.filter(({ kind }) => kind !== "foreign_key").map(constraintSql),
  ];
  return `create table ${nameOf(table)} (\n${lines.map((line) => `  ${line}`).join(",\n")}\n);`;
}

function columnSql(column: SchemaColumn): string {
  const { name, type, is_nullable } = column;
  return [quoteName(name), type, ...valueOf(column), ...(is_nullable ? [] : ["not null"])].join(
    " ",
  );
}

function valueOf({ default: expression, identity, is_generated }: SchemaColumn): string[] {
  if (identity !== null) return [`generated ${identity} as identity`];
  if (expression === null) return [];
  return [is_generated ? `generated always as (${expression}) stored` : `default ${expression}`];
}

function constraintSql({ name, kind, columns, definition }: SchemaConstraint): string {
  const rule = definition ?? `${kind.replace("_", " ")} (${columns.map(quoteName).join(", ")})`;
  return `constraint ${quoteName(name)} ${rule}`;
}

function foreignKeysSql(table: SchemaRelation): string[] {
  return table.constraints.flatMap(
    ({ kind, name, columns, target_schema, target_table, target_columns, on_delete }) => {
      if (kind !== "foreign_key") return [];
      const own = columns.map(quoteName).join(", ");
      if (target_schema === null || target_table === null) {
        return [remark(`${qualifiedName(table)} (${own}) refers to a table that you may not use.`)];
      }
      const target = nameOf({ schema: target_schema, name: target_table });
      const theirs = (target_columns ?? []).map(quoteName).join(", ");
      const rule = on_delete === "no action" ? "" : ` on delete ${on_delete}`;
      return [
        `alter table ${nameOf(table)} add constraint ${quoteName(name)} ` +
        `foreign key (${own}) references ${target} (${theirs})${rule};`,
      ];
    },
  );
}

function rowSecuritySql(table: SchemaRelation): string[] {
  return table.has_row_security
    ? [
      `alter table ${nameOf(table)} enable row level security;`,
      ...table.policies.map((policy) => policySql(table, policy)),
    ]
    : [];
}

function policySql(table: SchemaRelation, policy: SchemaPolicy): string {
  const { name, command, is_permissive, using, check } = policy;
  return [
    `create policy ${quoteName(name)} on ${nameOf(table)}`,
    ...(is_permissive ? [] : ["  as restrictive"]),
    `  for ${command}`,
    ...(using === null ? [] : [`  using (${using})`]),
    ...(check === null ? [] : [`  with check (${check})`]),
  ].join("\n") + ";";
}

function viewSql(view: SchemaRelation): string {
  if (view.definition === null) {
    const columns = view.columns.map(({ name, type }) => `${name} ${type}`).join(", ");
    return remark(`${view.kind.replace("_", " ")} ${qualifiedName(view)} (${columns})`);
  }
  const query = view.definition.trim().replace(/;$/, "");
  return `create ${view.kind.replace("_", " ")} ${nameOf(view)} as\n${query};`;
}

function commentsSql(relation: SchemaRelation): string[] {
  const kind = isTable(relation) ? "table" : relation.kind.replace("_", " ");
  const own = relation.comment === null
    ? []
    : [`comment on ${kind} ${nameOf(relation)} is ${quoteText(relation.comment)};`];
  const columns = relation.columns.flatMap(({ name, comment }) =>
    comment === null
      ? []
      : [`comment on column ${nameOf(relation)}.${quoteName(name)} is ${quoteText(comment)};`]
  );
  const comments = [...own, ...columns];
  return comments.length === 0 ? [] : [comments.join("\n")];
}

function functionLine({ arguments: parameters, returns, ...fn }: SchemaFunction): string {
  const result = returns === null ? "" : ` returns ${returns}`;
  return remark(`${fn.kind} ${qualifiedName(fn)}(${parameters})${result}`);
}

function advisoryLine({ kind, table, message, fix }: SchemaAdvisory): string {
  return remark(`${kind.replaceAll("_", " ")}: ${table}. ${message} ${fix ?? ""}`);
}

/** An SQL comment on every line, so that untrusted text cannot become a statement. */
function remark(text: string): string {
  return text.trim().split(/[\r\n\u2028\u2029]+/).map((line) => `-- ${line}`.trimEnd()).join("\n");
}

function nameOf({ schema, name }: Pick<SchemaRelation, "schema" | "name">): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}
