import { quoteName, sqlName } from "./quote_name.ts";
import {
  isTable,
  qualifiedName,
  type SchemaIndex,
  type SchemaPolicy,
  type SchemaRelation,
} from "./database_schema.ts";

/** A performance or security issue of a table. */
export interface SchemaAdvisory {
  readonly kind:
    | "foreign_key_without_index"
    | "policy_without_index"
    | "unused_index"
    | "table_without_row_security"
    | "row_security_without_policy";
  readonly table: string;
  /** The affected key, policy or index; null for the table. */
  readonly object: string | null;
  readonly columns: readonly string[];
  readonly message: string;
  /** A statement that would fix it, for a person to review; null if there is no single fix. */
  readonly fix: string | null;
}

/** The advisories for these relations. Views store no rows, so they get none. */
export function adviseOn(relations: readonly SchemaRelation[]): SchemaAdvisory[] {
  return relations.filter(isTable).flatMap((table) => [
    ...rowSecurity(table),
    ...foreignKeys(table),
    ...policyColumns(table),
    ...unusedIndexes(table),
  ]);
}

function rowSecurity(table: SchemaRelation): SchemaAdvisory[] {
  const about = { table: qualifiedName(table), object: null, columns: [] };
  if (!table.has_row_security) {
    return [{
      ...about,
      kind: "table_without_row_security",
      message: "Row level security is off: every signed-in user can access every row.",
      fix: `alter table ${sqlName(table)} enable row level security;`,
    }];
  }
  if (table.policies.length > 0) return [];
  return [{
    ...about,
    kind: "row_security_without_policy",
    message: "Row level security is on, but no policy applies to you: you see no rows.",
    fix: null,
  }];
}

function foreignKeys(table: SchemaRelation): SchemaAdvisory[] {
  return table.constraints.flatMap(({ kind, name, columns }) => {
    if (kind !== "foreign_key" || table.indexes.some((index) => startsWith(index, columns))) {
      return [];
    }
    return [{
      kind: "foreign_key_without_index" as const,
      table: qualifiedName(table),
      object: name,
      columns,
      message: `No index starts with ${columns.join(", ")}: joins over the foreign key, and ` +
        "deletes in the table it refers to, scan the whole table.",
      fix: createIndex(table, columns),
    }];
  });
}

function policyColumns(table: SchemaRelation): SchemaAdvisory[] {
  return table.policies.flatMap((policy) => {
    if (!readsExistingRows(policy) || policy.columns.length === 0) return [];
    const isIndexed = policy.columns.some((name) =>
      table.indexes.some((index) => startsWith(index, [name]))
    );
    if (isIndexed) return [];
    return [{
      kind: "policy_without_index" as const,
      table: qualifiedName(table),
      object: policy.name,
      columns: policy.columns,
      message: `No index starts with a column of the policy (${policy.columns.join(", ")}): ` +
        "every statement checks it row by row.",
      fix: createIndex(table, policy.columns.slice(0, 1)),
    }];
  });
}

function readsExistingRows({ using }: SchemaPolicy): boolean {
  return using !== null;
}

/** An index that enforces something is used by every write. */
function unusedIndexes(table: SchemaRelation): SchemaAdvisory[] {
  if ((table.row_estimate ?? 0) <= 0) return [];
  return table.indexes
    .filter(({ scan_count: scans, is_unique, is_constraint }) =>
      scans === 0 && !is_unique && !is_constraint
    )
    .map(({ name, columns, estimated_bytes: bytes }) => ({
      kind: "unused_index" as const,
      table: qualifiedName(table),
      object: name,
      columns,
      message:
        `No query has used the index (about ${Math.ceil((bytes ?? 0) / 1024)} kB) since the ` +
        "database's statistics were last reset.",
      fix: `drop index ${sqlName({ schema: table.schema, name })};`,
    }));
}

/** Whether an index supports a search by all of these columns as its prefix, in any order. */
function startsWith(index: SchemaIndex, columns: readonly string[]): boolean {
  const leading = index.columns.slice(0, columns.length);
  return index.is_valid && index.predicate === null &&
    columns.every((name) => leading.includes(name));
}

function createIndex(table: SchemaRelation, columns: readonly string[]): string {
  return `create index on ${sqlName(table)} (${columns.map(quoteName).join(", ")});`;
}
