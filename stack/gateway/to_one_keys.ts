import type { LiteSchema } from "./lite_contract.ts";

/**
 * Returns the schema with only the keys that make a relationship to-one in PostgREST: primary keys
 * and unique constraints with the same columns as the foreign key.
 *
 * The service also accepts any unique index, even a partial one, and a unique column of a foreign
 * key with several columns. It would then return related rows as one object, or fail.
 */
export function keepToOneKeys(schema: LiteSchema): LiteSchema {
  const constraints = (schema.unique_constraints ?? []).filter(({ table, columns }) =>
    columns.length > 1 || !isPartOfLongerKey(schema, table, columns[0] ?? "")
  );
  const names = new Set(constraints.map(({ table, name }) => `${table}.${name}`));
  return {
    ...schema,
    indexes: schema.indexes.map((index) => ({
      ...index,
      unique: index.unique && names.has(`${index.table}.${index.name}`),
    })),
    unique_constraints: constraints,
  };
}

/** Whether the column is part of foreign keys, and all of them have other columns too. */
function isPartOfLongerKey({ foreign_keys }: LiteSchema, table: string, column: string): boolean {
  const keys = foreign_keys.filter((key) => key.table === table);
  const own = keys.filter((key) => key.column === column);
  return own.length > 0 &&
    own.every(({ foreign_key_name: name }) =>
      keys.filter((key) => key.foreign_key_name === name).length > 1
    );
}
