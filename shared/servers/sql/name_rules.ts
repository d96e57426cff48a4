import { CATALOG_COLUMNS } from "./catalog_columns.ts";
import { forbidden, type NodeFinding, type NodeInContext, schemaProblem } from "./check_context.ts";
import { EXTENSIONS_SCHEMA, type SqlPolicy } from "./sql_policy.ts";
import { nameParts, textOf, type TreeNode, type TreeValue } from "./syntax_tree.ts";

/** Fields that read from a relation, also in writing statements. */
const READING_FIELDS: ReadonlySet<string> = new Set([
  "fromClause",
  "usingClause",
  "sourceRelation",
  "larg",
  "rarg",
]);

/** Statements and parts that read from every relation in them. */
const READING_PARENTS: ReadonlySet<string> = new Set(["RangeTableSample", "TableLikeClause"]);

/** Whether a relation in this position is written to or defined. */
export function isTarget(parent: string, field: string): boolean {
  return !READING_FIELDS.has(field) && !READING_PARENTS.has(parent);
}

/** Relations of exposed schemas, and listed catalogs for reading. */
export function relationRule({ node, parent, field, policy }: NodeInContext): NodeFinding | null {
  const { location } = node;
  const schema = textOf(node.schemaname);
  const name = textOf(node.relname) ?? "";
  if (textOf(node.catalogname) !== null) {
    return forbidden("Names with three parts refer to another database.", location);
  }
  const problem = isCatalog(schema, name)
    ? catalogProblem(schema, name, isTarget(parent, field))
    : schemaProblem(schema, policy.exposedSchemas);
  return problem === null ? null : forbidden(problem, location);
}

/** Whether a relation is one of PostgreSQL itself. */
export function isCatalog(schema: string | null, name: string): boolean {
  return catalogKey(schema, name) !== null;
}

/** The key of a relation in {@linkcode CATALOG_COLUMNS}; null if it is not a catalog. */
export function catalogKey(schema: string | null, name: string): string | null {
  if (schema === "information_schema") return `${schema}.${name}`;
  return schema === "pg_catalog" || (schema === null && name.startsWith("pg_")) ? name : null;
}

function catalogProblem(schema: string | null, name: string, isWritten: boolean): string | null {
  if (isWritten) return `"${name}" is a system catalog, which statements can only read.`;
  return Object.hasOwn(CATALOG_COLUMNS, catalogKey(schema, name) ?? "")
    ? null
    : `The catalog "${name}" is not on the list of readable catalogs.`;
}

/**
 * Types whose functions no timeout interrupts: XML is read by a library that does not check for it,
 * and comparing paths or polygons takes the product of their numbers of points.
 */
const UNINTERRUPTED_TYPES: ReadonlySet<string> = new Set([
  "_path",
  "_polygon",
  "_xml",
  "path",
  "polygon",
  "xml",
]);

/** Transaction numbers, whose age() tells how many transactions others have run. */
const COUNTING_TYPES: ReadonlySet<string> = new Set(["_xid", "xid"]);

/** Types of PostgreSQL, of extensions and of exposed schemas. */
export function typeRule({ node, policy }: NodeInContext): NodeFinding | null {
  const { location } = node;
  if (node.pct_type === true) {
    return forbidden("%TYPE belongs to function definitions.", location);
  }
  const [name = "", schema = "pg_catalog"] = nameParts(node.names)?.toReversed() ?? [];
  if (schema === "pg_catalog" && COUNTING_TYPES.has(name)) {
    return forbidden("Transaction numbers tell how many rows others have written.", location);
  }
  if (schema === "pg_catalog" && UNINTERRUPTED_TYPES.has(name)) {
    return forbidden(`Values cannot be converted to ${name}: no timeout interrupts it.`, location);
  }
  return qualifiedNameFinding(node.names, [
    "pg_catalog",
    "information_schema",
    EXTENSIONS_SCHEMA,
    ...policy.exposedSchemas,
  ], location);
}

/** Collations of PostgreSQL and of exposed schemas. */
export function collationRule({ node, policy }: NodeInContext): NodeFinding | null {
  return qualifiedNameFinding(
    node.collname,
    ["pg_catalog", EXTENSIONS_SCHEMA, ...policy.exposedSchemas],
    node.location,
  );
}

/** Operators: those found by the search path, or in a schema that only owners can write to. */
export function operatorFinding(name: TreeValue | undefined, node: TreeNode): NodeFinding | null {
  const parts = nameParts(name);
  if (parts === null) return forbidden("The operator's name cannot be read.", node.location);
  const [schema] = parts;
  if (parts.length < 2 || schema === "pg_catalog" || schema === EXTENSIONS_SCHEMA) return null;
  return forbidden(
    `OPERATOR(${parts.join(".")}) may run any function: use an operator of PostgreSQL itself.`,
    node.location,
  );
}

/** Whether a name with at most two parts names an allowed schema, or none. */
export function qualifiedNameFinding(
  value: TreeValue | undefined,
  schemas: readonly string[],
  location?: TreeValue,
): NodeFinding | null {
  const parts = nameParts(value);
  if (parts === null || parts.length > 2) {
    return forbidden("A name has more parts than a schema and a name.", location);
  }
  const problem = schemaProblem(parts.length === 2 ? parts[0] ?? null : null, schemas);
  return problem === null ? null : forbidden(problem, location);
}

/** Names in a definition: only in exposed schemas, never system objects. */
export function objectNameProblem(
  parts: readonly string[],
  { exposedSchemas }: SqlPolicy,
): string | null {
  if (parts.length === 0 || parts.length > 2) {
    return "An object's name has a schema and a name at most.";
  }
  const schema = parts.length === 2 ? parts[0] ?? null : null;
  const name = parts.at(-1) ?? "";
  return schema === null && name.startsWith("pg_")
    ? `"${name}" is a system catalog, which statements can only read.`
    : schemaProblem(schema, exposedSchemas);
}
