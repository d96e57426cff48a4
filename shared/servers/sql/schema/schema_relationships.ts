import { type DatabaseSchema, qualifiedName, type SchemaRelation } from "./database_schema.ts";

/** A foreign key as a relationship of two tables. */
export interface SchemaRelationship {
  readonly name: string;
  readonly from: string;
  readonly columns: readonly string[];
  readonly to: string;
  readonly target_columns: readonly string[];
  /** Of `from` to `to`. */
  readonly cardinality: "many-to-one" | "one-to-one";
  /** True if the key is nullable. */
  readonly is_optional: boolean;
}

/** The foreign keys of these relations to tables that the caller may use. */
export function relationshipsOf(
  { relations }: Pick<DatabaseSchema, "relations">,
): SchemaRelationship[] {
  return relations.flatMap((relation) =>
    relation.constraints.flatMap((constraint) => {
      const { kind, name, columns, target_schema, target_table, target_columns } = constraint;
      if (kind !== "foreign_key" || target_schema === null || target_table === null) return [];
      return [{
        name,
        from: qualifiedName(relation),
        columns,
        to: qualifiedName({ schema: target_schema, name: target_table }),
        target_columns: target_columns ?? [],
        cardinality: isUnique(relation, columns) ? "one-to-one" as const : "many-to-one" as const,
        is_optional: relation.columns.some((column) =>
          columns.includes(column.name) && column.is_nullable
        ),
      }];
    })
  );
}

function isUnique({ indexes }: SchemaRelation, columns: readonly string[]): boolean {
  return indexes.some((index) =>
    index.is_unique && index.predicate === null &&
    index.columns.every((name) => columns.includes(name))
  );
}
