import { quoteName, sqlName } from "./quote_name.ts";

/** The kinds of relations. */
export type RelationKind =
  | "table"
  | "partitioned_table"
  | "foreign_table"
  | "view"
  | "materialized_view";

/** A column that the caller may use in at least one way. */
export interface SchemaColumn {
  readonly name: string;
  /** As PostgreSQL writes it, for example `numeric(10,2)` or `public.mood[]`. */
  readonly type: string;
  readonly is_nullable: boolean;
  /** The default expression, or null; for a generated column its expression. */
  readonly default: string | null;
  readonly identity: "always" | "by default" | null;
  /** How a generated column is kept; null for others. */
  readonly generation: "stored" | "virtual" | null;
  readonly is_readable: boolean;
  readonly is_insertable: boolean;
  readonly is_updatable: boolean;
  readonly comment: string | null;
}

/** A key, check or exclusion of a table. */
export interface SchemaConstraint {
  readonly name: string;
  readonly kind: "primary_key" | "unique" | "foreign_key" | "check" | "exclusion";
  readonly columns: readonly string[];
  /** Only for checks and exclusions. */
  readonly definition: string | null;
  /** Only for foreign keys; null if the caller may not use the other table. */
  readonly target_schema: string | null;
  readonly target_table: string | null;
  readonly target_columns: readonly string[] | null;
  readonly on_delete: string | null;
}

/** An index of a table. */
export interface SchemaIndex {
  readonly name: string;
  readonly method: string;
  /** Key columns in order; expressions as text. */
  readonly columns: readonly string[];
  readonly is_unique: boolean;
  readonly is_primary: boolean;
  readonly is_valid: boolean;
  /** True if it enforces a key or an exclusion. */
  readonly is_constraint: boolean;
  readonly predicate: string | null;
  readonly definition: string;
  /**
   * Since the database's statistics were last reset; null if the caller may not read all rows of
   * the table.
   */
  readonly scan_count: number | null;
  /** Null if the caller may not read all rows of the table. */
  readonly estimated_bytes: number | null;
}

/** A row level security policy that applies to the caller. */
export interface SchemaPolicy {
  readonly name: string;
  readonly command: "select" | "insert" | "update" | "delete" | "all";
  readonly is_permissive: boolean;
  readonly using: string | null;
  readonly check: string | null;
  /** Referenced columns of the table. */
  readonly columns: readonly string[];
}

/** A partition of a table; tables are listed without their partitions. */
export interface SchemaPartition {
  readonly schema: string;
  readonly name: string;
  readonly parent_schema: string;
  readonly parent_name: string;
  /** For example `FOR VALUES FROM (1) TO (10)`; null if the caller may not read every row. */
  readonly bound: string | null;
  /** Null if it has no partitions itself. */
  readonly partition_key: string | null;
}

/** A table or view. */
export interface SchemaRelation {
  readonly schema: string;
  readonly name: string;
  readonly kind: RelationKind;
  readonly comment: string | null;
  /**
   * From the planner's statistics; null if never analyzed, or if the caller may not read all rows.
   */
  readonly row_estimate: number | null;
  readonly has_row_security: boolean;
  /** The caller's privileges on the whole relation, without writes that a view cannot take. */
  readonly privileges: readonly ("select" | "insert" | "update" | "delete")[];
  readonly columns: readonly SchemaColumn[];
  readonly constraints: readonly SchemaConstraint[];
  readonly indexes: readonly SchemaIndex[];
  readonly policies: readonly SchemaPolicy[];
  /** A view's query; null if it names objects that the caller may not use. */
  readonly definition: string | null;
  /** For example `RANGE (created_at)`; null for tables without partitions. */
  readonly partition_key: string | null;
  /** On all levels, parents first. */
  readonly partitions: readonly SchemaPartition[];
  /** The tables that it inherits from and the caller may use. */
  readonly inherits: readonly { readonly schema: string; readonly name: string }[];
  /** Only for foreign tables. */
  readonly foreign_server: string | null;
}

/** An enum type. */
export interface SchemaEnum {
  readonly schema: string;
  readonly name: string;
  /** Its name as the types of columns have it. */
  readonly written: string;
  readonly comment: string | null;
  readonly values: readonly string[];
}

/** A domain, composite type or range. */
export interface SchemaType {
  readonly schema: string;
  readonly name: string;
  readonly kind: "domain" | "composite" | "range";
  /** Its name as the types of columns have it. */
  readonly written: string;
  readonly comment: string | null;
  /** The type that a domain restricts, or of the ends of a range. */
  readonly base_type: string | null;
  /** False for a domain that refuses nulls. */
  readonly is_nullable: boolean;
  readonly default: string | null;
  readonly checks: readonly { readonly name: string; readonly definition: string }[];
  /** Of a composite type. */
  readonly attributes: readonly {
    readonly name: string;
    readonly type: string;
    readonly comment: string | null;
  }[];
}

/** A function that the caller may execute. */
export interface SchemaFunction {
  readonly schema: string;
  readonly name: string;
  readonly kind: "function" | "procedure" | "aggregate" | "window";
  readonly arguments: string;
  readonly returns: string | null;
  readonly volatility: "immutable" | "stable" | "volatile";
  readonly is_security_definer: boolean;
  readonly comment: string | null;
}

/** The structure of a database as one role sees it; all lists are sorted by schema and name. */
export interface DatabaseSchema {
  readonly relations: readonly SchemaRelation[];
  readonly enums: readonly SchemaEnum[];
  readonly types: readonly SchemaType[];
  readonly functions: readonly SchemaFunction[];
}

/** A relation's qualified name, as used in lists and cursors. */
export function qualifiedName({ schema, name }: Pick<SchemaRelation, "schema" | "name">): string {
  return `${schema}.${name}`;
}

/** Whether a caller's text names it: with or without its schema and the quotes of SQL. */
export function isNamed(
  relation: Pick<SchemaRelation, "schema" | "name">,
  text: string,
): boolean {
  const { name } = relation;
  return [name, qualifiedName(relation), quoteName(name), sqlName(relation)].includes(text);
}

/** Whether it stores its own rows. */
export function isTable({ kind }: Pick<SchemaRelation, "kind">): boolean {
  return kind === "table" || kind === "partitioned_table" || kind === "foreign_table";
}

/** The columns of a table's primary key, in order; empty if it has none. */
export function primaryKeyOf(
  { constraints }: Pick<SchemaRelation, "constraints">,
): readonly string[] {
  return constraints.find(({ kind }) => kind === "primary_key")?.columns ?? [];
}

/** Fields that can change while the structure stays the same. */
const MEASURED: ReadonlySet<string> = new Set(["row_estimate", "scan_count", "estimated_bytes"]);

/** The structure as text, which is equal if only estimates and counts differ. */
export function structureText(schema: DatabaseSchema): string {
  return JSON.stringify(schema, (name, value) => MEASURED.has(name) ? undefined : value);
}
