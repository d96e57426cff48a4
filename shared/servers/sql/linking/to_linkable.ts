import {
  type DatabaseSchema,
  isTable,
  primaryKeyOf,
  qualifiedName,
  type SchemaColumn,
  type SchemaRelation,
} from "../schema/database_schema.ts";
import { withInferredKeys } from "./infer_keys.ts";
import type { LinkableColumn, LinkableKey, LinkableTable } from "./linkable_table.ts";
import { sqlName } from "../schema/quote_name.ts";
import { type DescribedTypes, typeText, usedTypes } from "../schema/used_types.ts";
import { definedOnly } from "../../../platform/values/defined_only.ts";

/** Maximum characters of a type's line in a prompt, which holds some 300 labels. */
const MAX_TYPE_CHARACTERS = 4_000;
const MAX_COMMENT_CHARACTERS = 160;

/** Converts the tables that the caller can read to the form for choosing tables. */
export function toLinkable(
  { relations, ...described }: Pick<DatabaseSchema, "relations" | "enums" | "types">,
): LinkableTable[] {
  const readable = relations.filter(({ columns }) =>
    columns.some(({ is_readable: isReadable }) => isReadable)
  );
  const indexOf = new Map(readable.map((relation, index) => [qualifiedName(relation), index]));
  return withInferredKeys(readable.map((relation) => ({
    schema: relation.schema,
    name: relation.name,
    comment: relation.comment,
    columns: relation.columns.filter(({ is_readable: isReadable }) => isReadable)
      .map((column) => ({ ...pick(column), ...definedOnly({ origin: originOf(column) }) })),
    primaryKey: primaryKeyOf(relation),
    foreignKeys: foreignKeysOf(relation, indexOf),
    ...definedOnly({ form: formOf(relation) }),
    types: typeLines(relation, described),
  })));
}

function pick({ name, type, comment }: SchemaColumn): LinkableColumn {
  return { name, type, comment };
}

function originOf({ identity, generation }: SchemaColumn): string | undefined {
  if (identity !== null) return `identity ${identity}`;
  return generation === null ? undefined : "generated";
}

function formOf(relation: SchemaRelation): string | undefined {
  const { kind, privileges, partition_key: key, inherits } = relation;
  const isReadOnly = !privileges.some((privilege) => privilege !== "select");
  const parts = [
    ...(isTable(relation) ? [] : [kind.replace("_", " "), ...(isReadOnly ? ["read only"] : [])]),
    ...(key === null ? [] : [`partitioned by ${key}`]),
    ...(inherits.length === 0 ? [] : [`inherits ${inherits.map(sqlName).join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** `enum shop.mood ('calm', 'angry') -- comment` for each type that the columns use. */
function typeLines({ columns }: SchemaRelation, described: DescribedTypes): string[] {
  const readable = columns.filter(({ is_readable: isReadable }) => isReadable);
  const { enums, types } = usedTypes([{ columns: readable }], described);
  return [...enums, ...types].map((type) => {
    const kind = "kind" in type ? type.kind : "enum";
    const comment = type.comment?.replace(/\s+/g, " ") ?? "";
    const line = `${kind} ${type.written} ${typeText(type)}${
      comment === "" ? "" : ` -- ${comment.slice(0, MAX_COMMENT_CHARACTERS)}`
    }`.replace(/[\r\n]+/g, " ");
    return line.length <= MAX_TYPE_CHARACTERS ? line : `${line.slice(0, MAX_TYPE_CHARACTERS)} …`;
  });
}

function foreignKeysOf(
  { constraints }: SchemaRelation,
  indexOf: ReadonlyMap<string, number>,
): LinkableKey[] {
  return constraints.flatMap(({ kind, columns, target_schema, target_table, target_columns }) => {
    if (kind !== "foreign_key" || target_schema === null || target_table === null) return [];
    const target = indexOf.get(qualifiedName({ schema: target_schema, name: target_table }));
    if (target === undefined) return [];
    return [{ columns, target, targetColumns: target_columns ?? [], isInferred: false }];
  });
}
