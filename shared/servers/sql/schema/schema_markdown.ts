import { codeSpan, inlineText } from "../../../platform/values/markdown_text.ts";
import {
  isTable,
  primaryKeyOf,
  qualifiedName,
  type SchemaColumn,
  type SchemaConstraint,
  type SchemaEnum,
  type SchemaFunction,
  type SchemaIndex,
  type SchemaPolicy,
  type SchemaRelation,
  type SchemaType,
} from "./database_schema.ts";
import { quoteName, sqlName } from "./quote_name.ts";
import type { SchemaAdvisory } from "./schema_advisories.ts";
import type { SchemaDocument } from "./schema_document.ts";
import { typeText } from "./used_types.ts";
import type { SchemaRelationship } from "./schema_relationships.ts";

/** Maximum number of listed partitions of a table. */
const MAX_PARTITIONS = 50;

/**
 * A page of a schema as Markdown. Names, comments and expressions are untrusted text: they appear
 * in code spans or on one line with escaped markup, so that none of them can look like a heading, a
 * fence or an instruction.
 */
export function schemaMarkdown(document: SchemaDocument): string {
  const { relations, relationships } = document;
  return [
    "# Database schema",
    summaryOf(document),
    ...(relationships === null || relations.length === 0 ? [] : [
      "## Relationships",
      "```mermaid\n" + erDiagram(relations, relationships) + "\n```",
    ]),
    ...section("## Tables", relations.filter(isTable), (table) => relationText(table, document)),
    ...section(
      "## Views",
      relations.filter((relation) => !isTable(relation)),
      (view) => relationText(view, document),
    ),
    ...section("## Enums", document.enums, enumText, "\n"),
    ...section("## Types", document.types, describedType, "\n"),
    ...section("## Functions", document.functions, functionText, "\n"),
    ...section("## Advisories", document.advisories, advisoryText, "\n"),
    "## Analysis",
    document.analysis,
  ].join("\n\n") + "\n";
}

function section<Item>(
  title: string,
  items: readonly Item[],
  write: (item: Item) => string,
  separator = "\n\n",
): string[] {
  return items.length === 0 ? [] : [title, items.map(write).join(separator)];
}

function summaryOf({ relations, offset, total, nextCursor, schemaHash }: SchemaDocument): string {
  const shown = relations.length === total
    ? `${total} tables and views.`
    : `Tables and views ${Math.min(offset + 1, total)} to ${
      offset + relations.length
    } of ${total}.`;
  const more = nextCursor === null ? "" : ` The next page: cursor ${codeSpan(nextCursor)}.`;
  return `${shown}${more} Schema hash ${codeSpan(schemaHash.slice(0, 16))}.`;
}

function relationText(relation: SchemaRelation, { relationships }: SchemaDocument): string {
  const keys = relation.constraints.filter(({ kind }) =>
    kind !== "foreign_key" || relationships !== null
  );
  const lists = [
    ...keys.map(constraintText),
    ...relation.indexes.filter(({ is_constraint }) => !is_constraint).map(indexText),
    ...relation.policies.map(policyText),
  ].map((line) => `- ${line}`);
  return [
    `### ${codeSpan(sqlName(relation))}`,
    ...(relation.comment === null ? [] : [`> ${inlineText(relation.comment)}`]),
    factsOf(relation),
    columnTable(relation),
    ...(lists.length === 0 ? [] : [lists.join("\n")]),
  ].join("\n\n");
}

function factsOf(relation: SchemaRelation): string {
  const { kind, row_estimate: rows, has_row_security, privileges } = relation;
  const size = !isTable(relation)
    ? kind.replace("_", " ")
    : rows === null
    ? "unknown number of rows"
    : `about ${rows} rows`;
  const security = isTable(relation)
    ? `; row level security ${has_row_security ? "on" : "off"}`
    : "";
  const rights = privileges.length === 0 ? "single columns" : privileges.join(", ");
  return [`${size}${security}; you may use: ${rights}`, ...formOf(relation)].join("; ");
}

/** How a relation differs from a plain table. */
function formOf(relation: SchemaRelation): string[] {
  const { partition_key: key, partitions, inherits, foreign_server: server } = relation;
  const shown = partitions.slice(0, MAX_PARTITIONS).map((partition) => {
    const name = codeSpan(sqlName(partition));
    return partition.bound === null ? name : `${name} ${codeSpan(partition.bound)}`;
  });
  const left = partitions.length - shown.length;
  return [
    ...(key === null ? [] : [`partitioned by ${codeSpan(key)}`]),
    ...(shown.length === 0
      ? []
      : [`partitions: ${shown.join(", ")}${left === 0 ? "" : ` and ${left} more`}`]),
    ...(inherits.length === 0
      ? []
      : [`inherits ${inherits.map((parent) => codeSpan(sqlName(parent))).join(", ")}`]),
    ...(server === null ? [] : [`foreign table of the server ${codeName(server)}`]),
  ];
}

function columnTable(relation: SchemaRelation): string {
  const primary = primaryKeyOf(relation);
  return [
    "| column | type | null | default | comment |",
    "| --- | --- | --- | --- | --- |",
    ...relation.columns.map((column) => columnRow(column, primary.includes(column.name))),
  ].join("\n");
}

function columnRow(column: SchemaColumn, isKey: boolean): string {
  const { name, type, is_nullable, comment } = column;
  const cells = [
    `${codeName(name)}${isKey ? " (key)" : ""}`,
    codeSpan(type),
    is_nullable ? "yes" : "no",
    defaultOf(column),
    comment === null ? "" : inlineText(comment),
  ];
  return `| ${cells.join(" | ")} |`;
}

function defaultOf({ default: expression, identity, generation }: SchemaColumn): string {
  if (identity !== null) return `identity (${identity})`;
  if (expression === null) return "";
  return generation === null
    ? codeSpan(expression)
    : `generated, ${generation}: ${codeSpan(expression)}`;
}

function constraintText(constraint: SchemaConstraint): string {
  const { kind, name, columns, definition } = constraint;
  const on = columns.map(codeName).join(", ");
  switch (kind) {
    case "primary_key":
      return `primary key ${on}`;
    case "unique":
      return `unique ${on}`;
    case "foreign_key":
      return `foreign key ${on} → ${targetOf(constraint)}`;
    case "check":
    case "exclusion":
      return `${kind} ${codeName(name)}: ${codeSpan(definition ?? "")}`;
  }
}

function targetOf(constraint: SchemaConstraint): string {
  const { target_schema: schema, target_table: name, target_columns, on_delete } = constraint;
  if (schema === null || name === null) return "a table that you may not use";
  const columns = (target_columns ?? []).map(codeName).join(", ");
  return `${codeSpan(sqlName({ schema, name }))} (${columns}), on delete ${on_delete}`;
}

function indexText({ name, method, columns, is_unique, predicate }: SchemaIndex): string {
  const where = predicate === null ? "" : ` where ${codeSpan(predicate)}`;
  return `${is_unique ? "unique " : ""}index ${codeName(name)} (${method}) on ${
    columns.map(codeSpan).join(", ")
  }${where}`;
}

function policyText({ name, command, is_permissive, using, check }: SchemaPolicy): string {
  const rules = [
    ...(using === null ? [] : [`using ${codeSpan(using)}`]),
    ...(check === null ? [] : [`check ${codeSpan(check)}`]),
  ];
  const kind = is_permissive ? "policy" : "restrictive policy";
  return `${kind} ${codeName(name)} for ${command}${
    rules.length === 0 ? "" : `: ${rules.join(", ")}`
  }`;
}

function enumText({ comment, values, ...named }: SchemaEnum): string {
  const remark = comment === null ? "" : ` (${inlineText(comment)})`;
  return `- ${codeSpan(sqlName(named))}: ${values.map(codeSpan).join(", ")}${remark}`;
}

function describedType(type: SchemaType): string {
  const { kind, comment, default: expression, attributes } = type;
  const remarks = attributes.flatMap(({ name, comment }) =>
    comment === null ? [] : [`${codeName(name)}: ${inlineText(comment)}`]
  );
  return `- ${codeSpan(sqlName(type))}: ${kind} ${codeSpan(typeText(type))}${
    expression === null ? "" : `, default ${codeSpan(expression)}`
  }${comment === null ? "" : ` (${inlineText(comment)})`}${
    remarks.length === 0 ? "" : `; ${remarks.join("; ")}`
  }`;
}

function functionText(fn: SchemaFunction): string {
  const { arguments: parameters, returns, volatility, is_security_definer, comment } = fn;
  const result = returns === null ? "" : ` → ${codeSpan(returns)}`;
  const rights = is_security_definer ? ", with its owner's rights" : "";
  const remark = comment === null ? "" : `: ${inlineText(comment)}`;
  return `- ${
    codeSpan(`${sqlName(fn)}(${parameters})`)
  }${result} (${volatility}${rights})${remark}`;
}

function advisoryText({ kind, table, object, message, fix }: SchemaAdvisory): string {
  const about = object === null ? codeSpan(table) : `${codeSpan(table)}, ${codeSpan(object)}`;
  return `- **${kind.replaceAll("_", " ")}** ${about}: ${message}${
    fix === null ? "" : ` ${codeSpan(fix)}`
  }`;
}

/** A name as statements write it, because models copy it. */
function codeName(name: string): string {
  return codeSpan(quoteName(name));
}

/**
 * A Mermaid diagram of tables with their keys and relationships. A relationship to any other table
 * is drawn with only that table's name.
 */
function erDiagram(
  relations: readonly SchemaRelation[],
  relationships: readonly SchemaRelationship[],
): string {
  return [
    "erDiagram",
    ...relations.flatMap((relation) => entity(relation, relationships)),
    ...relationships.map(relationship),
  ].join("\n");
}

function entity(relation: SchemaRelation, relationships: readonly SchemaRelationship[]): string[] {
  const primary = primaryKeyOf(relation);
  const name = qualifiedName(relation);
  const foreign = new Set(
    relationships.filter(({ from }) => from === name).flatMap(({ columns }) => columns),
  );
  const lines = relation.columns.flatMap((column) => {
    const keys = [
      ...(primary.includes(column.name) ? ["PK"] : []),
      ...(foreign.has(column.name) ? ["FK"] : []),
    ];
    return keys.length === 0
      ? []
      : [`    ${word(column.type)} ${word(column.name)} ${keys.join(", ")}`];
  });
  return lines.length === 0
    ? [`  ${entityName(name)}`]
    : [`  ${entityName(name)} {`, ...lines, "  }"];
}

function relationship({ from, to, columns, cardinality, is_optional }: SchemaRelationship): string {
  const parent = is_optional ? "|o" : "||";
  const child = cardinality === "one-to-one" ? "o|" : "o{";
  return `  ${entityName(to)} ${parent}--${child} ${entityName(from)} : "${label(columns)}"`;
}

/** The grammar accepts any name in quotes, but has no escape for a quote. */
function entityName(qualified: string): string {
  return `"${label([qualified.replace(/^public\./, "")])}"`;
}

function label(names: readonly string[]): string {
  return names.join(", ").replace(/["\r\n%\\]/g, "_");
}

/** Types and names of attributes are single words that start with a letter. */
function word(text: string): string {
  const plain = text.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "");
  return /^\p{L}/u.test(plain) ? plain : `c_${plain}`;
}
