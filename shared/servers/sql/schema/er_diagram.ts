import { primaryKeyOf, qualifiedName, type SchemaRelation } from "./database_schema.ts";
import type { SchemaRelationship } from "./schema_relationships.ts";

/**
 * A Mermaid diagram of tables with their keys and relationships. A relationship to any other table
 * is drawn with only that table's name.
 */
export function erDiagram(
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
