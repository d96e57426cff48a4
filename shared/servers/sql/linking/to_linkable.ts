import {
  type DatabaseSchema,
  primaryKeyOf,
  qualifiedName,
  type SchemaRelation,
} from "../schema/database_schema.ts";
import { withInferredKeys } from "./infer_keys.ts";
import type { LinkableKey, LinkableTable } from "./linkable_table.ts";

/** Converts the tables that the caller can read to the form for choosing tables. */
export function toLinkable({ relations }: Pick<DatabaseSchema, "relations">): LinkableTable[] {
  const readable = relations.filter(({ columns }) =>
    columns.some(({ is_readable: isReadable }) => isReadable)
  );
  const indexOf = new Map(readable.map((relation, index) => [qualifiedName(relation), index]));
  return withInferredKeys(readable.map((relation) => ({
    schema: relation.schema,
    name: relation.name,
    comment: relation.comment,
    columns: relation.columns.filter(({ is_readable: isReadable }) => isReadable)
      .map(({ name, type, comment }) => ({ name, type, comment })),
    primaryKey: primaryKeyOf(relation),
    foreignKeys: foreignKeysOf(relation, indexOf),
  })));
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
