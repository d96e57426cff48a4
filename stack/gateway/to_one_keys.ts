import type { LiteSchema } from "./lite_contract.ts";

/**
 * The database's schema with only those keys that make a relationship to-one for PostgREST: primary
 * keys and unique constraints whose columns are those of the foreign key.
 *
 * The service also takes a unique index for such a key, even a partial one, and a unique column of
 * a foreign key of several columns; related rows would come as one object, or as an error.
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

/** Whether foreign keys use the column, and all of them together with others. */
function isPartOfLongerKey({ foreign_keys }: LiteSchema, table: string, column: string): boolean {
  const keys = foreign_keys.filter((key) => key.table === table);
  const own = keys.filter((key) => key.column === column);
  return own.length > 0 &&
    own.every(({ foreign_key_name: name }) =>
      keys.filter((key) => key.foreign_key_name === name).length > 1
    );
}
