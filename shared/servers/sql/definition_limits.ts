import { definitionTargets } from "./definition_targets.ts";
import {
  isNode,
  listOf,
  stringNode,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  visitNodes,
  wrappedNode,
} from "./syntax_tree.ts";
import type { Definition } from "./verdict.ts";

/**
 * The statements that an operator can run with the rights of the project's migrations: those that
 * define tables, views, indexes, sequences, types, statistics and comments, and neither read rows
 * nor call functions of the project. `private.sql_policy.confirmable_definitions` can only shorten
 * this list.
 */
const RUNNABLE_DEFINITIONS: ReadonlySet<string> = new Set([
  "AlterDomainStmt",
  "AlterEnumStmt",
  "AlterObjectSchemaStmt",
  "AlterSeqStmt",
  "AlterTableStmt",
  "CommentStmt",
  "CompositeTypeStmt",
  "CreateDomainStmt",
  "CreateEnumStmt",
  "CreateSeqStmt",
  "CreateStatsStmt",
  "CreateStmt",
  "DropStmt",
  "IndexStmt",
  "RenameStmt",
  "ViewStmt",
]);

/** Schemas in which no definition runs, even if statements may read from them. */
export const CLOSED_SCHEMAS: ReadonlySet<string> = new Set([
  "auth",
  "cron",
  "extensions",
  "graphql",
  "graphql_public",
  "information_schema",
  "net",
  "pg_catalog",
  "pgbouncer",
  "pgmq",
  "pgsodium",
  "private",
  "realtime",
  "storage",
  "supabase_functions",
  "supabase_migrations",
  "supaswarm",
  "supaswarm_private",
  "vault",
]);

/** What a definition would change, and why it must not run here; null if the limits allow it. */
export function toDefinition(nodes: readonly VisitedNode[], root: TreeNode): Definition {
  const kind = wrappedNode(root)?.type ?? "";
  const targets = definitionTargets(nodes, root);
  return { kind, targets, limit: limitOf(kind, nodes, root, targets) };
}

function limitOf(
  kind: string,
  nodes: readonly VisitedNode[],
  root: TreeNode,
  targets: Definition["targets"],
): string | null {
  if (!RUNNABLE_DEFINITIONS.has(kind)) {
    return "The statement reads rows with the rights of the migrations, or defines more than " +
      "tables, views, indexes, sequences and types.";
  }
  const closed = targets.find(({ schema, effect }) =>
    effect !== "use" && schema !== null && CLOSED_SCHEMAS.has(schema)
  );
  if (closed !== undefined) return `The schema "${closed.schema}" belongs to the platform.`;
  for (const visited of nodes) {
    const limit = nodeLimit(visited);
    if (limit !== null) return limit;
  }
  return kind === "ViewStmt" && !hasInvokerRights(wrappedNode(root)?.node ?? {})
    ? "A view without security_invoker shows the rows of all users: write create view … with " +
      "(security_invoker = true) as …"
    : null;
}

function nodeLimit({ type, node }: VisitedNode): string | null {
  if (node.behavior === "DROP_CASCADE") {
    return "CASCADE also drops what the statement does not name: drop that first.";
  }
  if (node.concurrent === true) return "CONCURRENTLY cannot run in a transaction.";
  if (node.objtype === "OBJECT_SCHEMA" || node.removeType === "OBJECT_SCHEMA") return SCHEMA;
  if (node.renameType === "OBJECT_SCHEMA") return SCHEMA;
  if (type === "RangeVar" && node.relpersistence === "t") {
    return "A temporary relation would be gone after the statement.";
  }
  if (type === "TableLikeClause" || (type === "CreateStmt" && inheritsColumns(node))) {
    return "LIKE and INHERITS copy defaults and checks that you may not see: write the columns.";
  }
  if (type === "AlterTableCmd") return alterationLimit(node);
  if (type === "RangeTableSample") return "TABLESAMPLE tells how many rows others have written.";
  if (type === "ParamRef") return "A definition has no parameters: write the values themselves.";
  return null;
}

const SCHEMA = "Schemas are created and changed by migrations.";

function inheritsColumns({ inhRelations, partbound }: TreeNode): boolean {
  return listOf(inhRelations).length > 0 && partbound === undefined;
}

/** Alterations after which users could see values that neither policies nor rights show them. */
function alterationLimit({ subtype, name, def }: TreeNode): string | null {
  switch (subtype) {
    case "AT_AddInherit":
    case "AT_AttachPartition":
      return "Rows of the table would be seen through its parent, without its own policies.";
    case "AT_AlterColumnType":
      return namesOtherColumns(def, name) ? MOVED_VALUES : null;
    case "AT_SetExpression":
      return MOVED_VALUES;
    default:
      return null;
  }
}

const MOVED_VALUES = "Values of other columns would be seen by users who have no right on those.";

function namesOtherColumns(def: TreeValue | undefined, column: TreeValue | undefined): boolean {
  if (!isNode(def)) return false;
  return [...visitNodes(def)].some(({ type, node }) => {
    const fields = listOf(node.fields);
    return type === "ColumnRef" &&
      (fields.length !== 1 || stringNode(fields[0]) !== textOf(column));
  });
}

/** All of several values of the option, because the server could take any. */
function hasInvokerRights({ options }: TreeNode): boolean {
  const given = listOf(options).flatMap((option) => {
    const { defname, defnamespace, arg } = wrappedNode(option)?.node ?? {};
    return textOf(defname) === "security_invoker" ? [{ defnamespace, arg }] : [];
  });
  return given.length > 0 &&
    given.every(({ defnamespace, arg }) =>
      defnamespace === undefined && (arg === undefined || isTrue(arg))
    );
}

function isTrue(arg: TreeValue): boolean {
  const value = wrappedNode(arg)?.node;
  return /^(true|on|yes|1)$/i.test(stringNode(arg) ?? "") ||
    (value !== undefined && (value.boolval === true || value.ival === 1));
}
