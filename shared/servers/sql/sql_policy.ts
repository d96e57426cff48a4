/** Objects that a project permits in statements, in addition to built-in functions and catalogs. */
export interface SqlPolicy {
  /** Schemas whose relations, types and indexes statements may name. */
  readonly exposedSchemas: readonly string[];
  /** The project's own functions that a read may call, as `schema.name`. */
  readonly readFunctions: readonly string[];
  /** The project's own functions that make a statement a write, as `schema.name`. */
  readonly writeFunctions: readonly string[];
}

/** The default policy. */
export const DEFAULT_SQL_POLICY: SqlPolicy = {
  exposedSchemas: ["public"],
  readFunctions: [],
  writeFunctions: [],
};

/** Contains the types and operators of extensions such as pgvector; only owners can write to it. */
export const EXTENSIONS_SCHEMA = "extensions";

/** The schemas in which names without a schema are looked up, in order. */
export function searchPathOf({ exposedSchemas }: SqlPolicy): readonly string[] {
  return ["pg_catalog", ...exposedSchemas, EXTENSIONS_SCHEMA];
}
