/** What a relation is. */
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
  /** An expression; null: none. For a generated column the expression that makes it. */
  readonly default: string | null;
  readonly identity: "always" | "by default" | null;
  readonly is_generated: boolean;
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
  /** Of checks and exclusions. */
  readonly definition: string | null;
  /** Of foreign keys; null where the caller may not use the other table. */
  readonly target_schema: string | null;
  readonly target_table: string | null;
  readonly target_columns: readonly string[] | null;
  readonly on_delete: string | null;
}

/** An index of a table. */
export interface SchemaIndex {
  readonly name: string;
  readonly method: string;
  /** Key columns in order; an expression stands for itself. */
  readonly columns: readonly string[];
  readonly is_unique: boolean;
  readonly is_primary: boolean;
  readonly is_valid: boolean;
  /** It enforces a key or an exclusion. */
  readonly is_constraint: boolean;
  readonly predicate: string | null;
  readonly definition: string;
  /** Since the database's statistics were last reset. */
  readonly scan_count: number;
  readonly estimated_bytes: number;
}

/** A row level security policy that holds for the caller. */
export interface SchemaPolicy {
  readonly name: string;
  readonly command: "select" | "insert" | "update" | "delete" | "all";
  readonly is_permissive: boolean;
  readonly using: string | null;
  readonly check: string | null;
  /** Of the table itself. */
  readonly columns: readonly string[];
}

/** A table or view. */
export interface SchemaRelation {
  readonly schema: string;
  readonly name: string;
  readonly kind: RelationKind;
  readonly comment: string | null;
  /** By the planner's statistics; null: never analyzed. */
  readonly row_estimate: number | null;
  readonly has_row_security: boolean;
  /** Of the caller on the whole relation. */
  readonly privileges: readonly ("select" | "insert" | "update" | "delete")[];
  readonly columns: readonly SchemaColumn[];
  readonly constraints: readonly SchemaConstraint[];
  readonly indexes: readonly SchemaIndex[];
  readonly policies: readonly SchemaPolicy[];
  /** A view's query; null where it names what the caller may not use. */
  readonly definition: string | null;
}

/** An enum type. */
export interface SchemaEnum {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly values: readonly string[];
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
  readonly functions: readonly SchemaFunction[];
}

/** A relation's name with its schema, as it stands in lists and cursors. */
export function qualifiedName({ schema, name }: Pick<SchemaRelation, "schema" | "name">): string {
  return `${schema}.${name}`;
}

/** Whether it holds rows of its own. */
export function isTable({ kind }: Pick<SchemaRelation, "kind">): boolean {
  return kind === "table" || kind === "partitioned_table" || kind === "foreign_table";
}

/** The columns of a table's primary key, in order; empty: it has none. */
export function primaryKeyOf(
  { constraints }: Pick<SchemaRelation, "constraints">,
): readonly string[] {
  return constraints.find(({ kind }) => kind === "primary_key")?.columns ?? [];
}

/** What changes without a change of the structure. */
const MEASURED: ReadonlySet<string> = new Set(["row_estimate", "scan_count", "estimated_bytes"]);

/** The structure as text, the same as long as nothing but estimates and counts differ. */
export function structureText(schema: DatabaseSchema): string {
  return JSON.stringify(schema, (name, value) => MEASURED.has(name) ? undefined : value);
}
