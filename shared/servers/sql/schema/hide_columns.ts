import type { DatabaseSchema, SchemaRelation } from "./database_schema.ts";

/**
 * The schema without constraints, indexes and policies that would reveal columns that the caller
 * may not use.
 */
export function hideColumns(schema: DatabaseSchema): DatabaseSchema {
  return { ...schema, relations: schema.relations.map(hideInRelation) };
}

function hideInRelation(relation: SchemaRelation): SchemaRelation {
  const visible = new Set(relation.columns.map(({ name }) => name));
  const isVisible = ({ columns }: { readonly columns: readonly string[] }) =>
    columns.every((name) => visible.has(name));
  return {
    ...relation,
    constraints: relation.constraints.filter(isVisible),
    indexes: relation.indexes.filter(({ columns, definition }) =>
      columns.every((name) => visible.has(name) || isExpressionOf(name, definition))
    ),
    policies: relation.policies.map((policy) =>
      isVisible(policy) ? policy : { ...policy, using: null, check: null, columns: [] }
    ),
  };
}

/** A key that is an expression instead of a column name. */
function isExpressionOf(key: string, definition: string): boolean {
  return /[^\w$]/.test(key) && definition.includes(key);
}
