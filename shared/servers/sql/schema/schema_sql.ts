import {
  isTable,
  type SchemaColumn,
  type SchemaConstraint,
  type SchemaEnum,
  type SchemaFunction,
  type SchemaPartition,
  type SchemaPolicy,
  type SchemaRelation,
  type SchemaType,
} from "./database_schema.ts";
import { quoteName, quoteText, sqlName } from "./quote_name.ts";
import type { SchemaAdvisory } from "./schema_advisories.ts";
import type { SchemaDocument } from "./schema_document.ts";
import { typeText } from "./used_types.ts";

/**
 * A page of a schema as SQL definitions, for reading and for a scratch database: schemas, types,
 * sequences, tables, then foreign keys, indexes, policies, views and comments. Function bodies are not
 * included, and a foreign table is a table, because its server is elsewhere.
 */
export function schemaSql(document: SchemaDocument): string {
  const { relations, relationships } = document;
  const tables = inOrder(
    relations.filter(isTable),
    ({ inherits }, other) =>
      inherits.some(({ schema, name }) => schema === other.schema && name === other.name),
  );
  const views = inOrder(
    relations.filter((relation) => !isTable(relation)),
    ({ definition }, other) => definition?.includes(sqlName(other)) ?? false,
  );
  const parts = [
    ...schemasSql(document),
    ...document.enums.map(enumSql),
    ...document.types.map(typeSql),
    ...sequencesSql(tables),
    ...tables.map(tableSql),
    ...tables.flatMap(({ partitions }) => partitions.map(partitionSql)),
    ...(relationships === null ? [] : tables.flatMap(foreignKeysSql)),
    ...tables.flatMap(({ indexes }) =>
      indexes.filter(({ is_constraint }) => !is_constraint).map(({ definition }) =>
        `${definition};`
      )
    ),
    ...tables.flatMap(rowSecuritySql),
    ...views.map(viewSql),
    ...[...document.enums, ...document.types].flatMap(typeCommentsSql),
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
  return `create type ${sqlName({ schema, name })} as enum (${values.map(quoteText).join(", ")});`;
}

function typeSql(type: SchemaType): string {
  const { kind, base_type: base, default: expression } = type;
  switch (kind) {
    case "composite":
      return `create type ${sqlName(type)} as ${typeText(type)};`;
    case "range":
      return `create type ${sqlName(type)} as range (subtype = ${base});`;
    case "domain":
      return [
        `create domain ${sqlName(type)} as ${base}`,
        ...(expression === null ? [] : [`default ${expression}`]),
        ...(type.is_nullable ? [] : ["not null"]),
        ...type.checks.map(({ name, definition }) => `constraint ${quoteName(name)} ${definition}`),
      ].join(" ") + ";";
  }
}

function schemasSql({ relations, enums, types }: SchemaDocument): string[] {
  const names = [...relations, ...enums, ...types].map(({ schema }) => schema);
  return [...new Set(names)].filter((schema) => schema !== "public")
    .map((schema) => `create schema if not exists ${quoteName(schema)};`);
}

/** The sequences of defaults such as those of `serial`. */
function sequencesSql(tables: readonly SchemaRelation[]): string[] {
  const names = tables.flatMap(({ columns }) =>
    columns.flatMap(({ default: expression }) =>
      /^nextval\('((?:[^']|'')+)'::regclass\)$/.exec(expression ?? "")?.[1] ?? []
    )
  );
  return [...new Set(names)].map((name) =>
    `create sequence if not exists ${name.replaceAll("''", "'")};`
  );
}

/** The items, each after those that it needs; where they need each other, as they come. */
function inOrder<T>(items: readonly T[], needs: (item: T, other: T) => boolean): T[] {
  const ordered = new Set<T>();
  const visited = new Set<T>();
  const visit = (item: T): void => {
    if (visited.has(item)) return;
    visited.add(item);
    items.filter((other) => other !== item && needs(item, other)).forEach(visit);
    ordered.add(item);
  };
  items.forEach(visit);
  return [...ordered];
}

function partitionSql(partition: SchemaPartition): string {
  const { parent_schema: schema, parent_name: name, bound, partition_key: key } = partition;
  if (bound === null) {
    return remark(
      `The partition ${sqlName(partition)} of ${sqlName({ schema, name })} is left out: ` +
        "its bound is shown only to callers who may read every row.",
    );
  }
  const parts = key === null ? "" : ` partition by ${key}`;
  return `create table ${sqlName(partition)} partition of ${
    sqlName({ schema, name })
  } ${bound}${parts};`;
}

function tableSql(table: SchemaRelation): string {
  const lines = [
    ...table.columns.map(columnSql),
    ...table.constraints.filter(({ kind }) => kind !== "foreign_key").map(constraintSql),
  ];
  const { inherits, partition_key: key, foreign_server: server } = table;
  const definition = [
    `create table ${sqlName(table)} (\n${lines.map((line) => `  ${line}`).join(",\n")}\n)`,
    ...(inherits.length === 0 ? [] : [`inherits (${inherits.map(sqlName).join(", ")})`]),
    ...(key === null ? [] : [`partition by ${key}`]),
  ].join(" ") + ";";
  return server === null
    ? definition
    : `${remark(`A foreign table of the server ${quoteName(server)}:`)}\n${definition}`;
}

function columnSql(column: SchemaColumn): string {
  const { name, type, is_nullable } = column;
  return [quoteName(name), type, ...valueOf(column), ...(is_nullable ? [] : ["not null"])].join(
    " ",
  );
}

function valueOf({ default: expression, identity, generation }: SchemaColumn): string[] {
  if (identity !== null) return [`generated ${identity} as identity`];
  if (expression === null) return [];
  return [
    generation === null
      ? `default ${expression}`
      : `generated always as (${expression}) ${generation}`,
  ];
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
        return [remark(`${sqlName(table)} (${own}) refers to a table that you may not use.`)];
      }
      const target = sqlName({ schema: target_schema, name: target_table });
      const theirs = (target_columns ?? []).map(quoteName).join(", ");
      const rule = on_delete === "no action" ? "" : ` on delete ${on_delete}`;
      return [
        `alter table ${sqlName(table)} add constraint ${quoteName(name)} ` +
        `foreign key (${own}) references ${target} (${theirs})${rule};`,
      ];
    },
  );
}

function rowSecuritySql(table: SchemaRelation): string[] {
  return table.has_row_security
    ? [
      `alter table ${sqlName(table)} enable row level security;`,
      ...table.policies.map((policy) => policySql(table, policy)),
    ]
    : [];
}

function policySql(table: SchemaRelation, policy: SchemaPolicy): string {
  const { name, command, is_permissive, using, check } = policy;
  return [
    `create policy ${quoteName(name)} on ${sqlName(table)}`,
    ...(is_permissive ? [] : ["  as restrictive"]),
    `  for ${command}`,
    ...(using === null ? [] : [`  using (${using})`]),
    ...(check === null ? [] : [`  with check (${check})`]),
  ].join("\n") + ";";
}

function viewSql(view: SchemaRelation): string {
  if (view.definition === null) {
    const columns = view.columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(", ");
    return remark(`${view.kind.replace("_", " ")} ${sqlName(view)} (${columns})`);
  }
  const query = view.definition.trim().replace(/;$/, "");
  const rights = view.privileges.join(", ") || "single columns";
  return `${remark(`You may use: ${rights}.`)}\n` +
    `create ${view.kind.replace("_", " ")} ${sqlName(view)} as\n${query};`;
}

function typeCommentsSql(type: SchemaEnum | SchemaType): string[] {
  const kind = "kind" in type && type.kind === "domain" ? "domain" : "type";
  const attributes = "attributes" in type ? type.attributes : [];
  const lines = [
    ...(type.comment === null
      ? []
      : [`comment on ${kind} ${sqlName(type)} is ${quoteText(type.comment)};`]),
    ...attributes.flatMap(({ name, comment }) =>
      comment === null
        ? []
        : [`comment on column ${sqlName(type)}.${quoteName(name)} is ${quoteText(comment)};`]
    ),
  ];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function commentsSql(relation: SchemaRelation): string[] {
  const kind = isTable(relation) ? "table" : relation.kind.replace("_", " ");
  const own = relation.comment === null
    ? []
    : [`comment on ${kind} ${sqlName(relation)} is ${quoteText(relation.comment)};`];
  const columns = relation.columns.flatMap(({ name, comment }) =>
    comment === null
      ? []
      : [`comment on column ${sqlName(relation)}.${quoteName(name)} is ${quoteText(comment)};`]
  );
  const comments = [...own, ...columns];
  return comments.length === 0 ? [] : [comments.join("\n")];
}

function functionLine({ arguments: parameters, returns, ...fn }: SchemaFunction): string {
  const result = returns === null ? "" : ` returns ${returns}`;
  return remark(`${fn.kind} ${sqlName(fn)}(${parameters})${result}`);
}

function advisoryLine({ kind, table, message, fix }: SchemaAdvisory): string {
  return remark(`${kind.replaceAll("_", " ")}: ${table}. ${message} ${fix ?? ""}`);
}

/** An SQL comment on every line, so that untrusted text cannot become a statement. */
function remark(text: string): string {
  return text.trim().split(/[\r\n\u2028\u2029]+/).map((line) => `-- ${line}`.trimEnd()).join("\n");
}
