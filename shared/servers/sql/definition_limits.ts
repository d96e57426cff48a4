import {
  isNode,
  listOf,
  nameParts,
  ownValue,
  stringNode,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  visitNodes,
  wrappedNode,
} from "./syntax_tree.ts";
import type { Definition, DefinitionTarget } from "./verdict.ts";
import { isTarget } from "./name_rules.ts";

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

/** The field with the relation that a statement creates. */
const CREATED_RELATIONS: Readonly<Record<string, string>> = {
  CompositeTypeStmt: "typevar",
  CreateSeqStmt: "sequence",
  CreateStmt: "relation",
  ViewStmt: "view",
};

/** The field with the name of the type that a statement creates. */
const CREATED_TYPES: Readonly<Record<string, string>> = {
  CreateDomainStmt: "domainname",
  CreateEnumStmt: "typeName",
};

/** Kinds of objects that are relations, with the number of parts of their names below a relation. */
const RELATION_KINDS: Readonly<Record<string, number>> = {
  OBJECT_ATTRIBUTE: 1,
  OBJECT_COLUMN: 1,
  OBJECT_INDEX: 0,
  OBJECT_MATVIEW: 0,
  OBJECT_SEQUENCE: 0,
  OBJECT_TABCONSTRAINT: 1,
  OBJECT_TABLE: 0,
  OBJECT_VIEW: 0,
};

const TYPE_KINDS: ReadonlySet<string> = new Set([
  "OBJECT_DOMAIN",
  "OBJECT_DOMCONSTRAINT",
  "OBJECT_TYPE",
]);

/** Kinds that a statement can give another name, which no other relation may have. */
const NAMED_AS_RELATIONS: ReadonlySet<string> = new Set([
  "OBJECT_INDEX",
  "OBJECT_MATVIEW",
  "OBJECT_SEQUENCE",
  "OBJECT_TABLE",
  "OBJECT_VIEW",
]);

/** Names of types that only column definitions know. */
const SERIAL = /^(big|small)?serial[248]?$/;

/** Everything that a definition creates, changes and uses, except rows and functions. */
function definitionTargets(
  nodes: readonly VisitedNode[],
  root: TreeNode,
): readonly DefinitionTarget[] {
  const { type: kind = "", node: statement = {} } = wrappedNode(root) ?? {};
  return [
    ...createdTargets(kind, statement),
    ...nodes.flatMap((visited) => changedRelations(visited, kind, statement)),
    ...namedTargets(kind, statement),
    ...listOf(statement.options).flatMap(ownerOfSequence),
    ...nodes.flatMap((visited) => usedTypes(visited)),
  ];
}

function createdTargets(kind: string, statement: TreeNode): readonly DefinitionTarget[] {
  const mayExist = statement.if_not_exists === true || statement.replace === true;
  const created = { effect: "create", mayExist, mayMiss: true } as const;
  const relation = statement[ownValue(CREATED_RELATIONS, kind) ?? ""];
  if (isNode(relation)) {
    const named = { schema: textOf(relation.schemaname), name: textOf(relation.relname) ?? "" };
    return [{ ...named, ...created, kind: "relation" }];
  }
  const type = nameParts(statement[ownValue(CREATED_TYPES, kind) ?? ""]);
  if (type !== null && type.length > 0) return [{ ...splitName(type), ...created, kind: "type" }];
  return isNode(statement.relation) ? renamedTargets(statement, statement.relation, created) : [];
}

/** A new name or schema must not be that of another relation. */
function renamedTargets(
  { renameType, newname, newschema }: TreeNode,
  relation: TreeNode,
  created: Pick<DefinitionTarget, "effect" | "mayExist" | "mayMiss">,
): readonly DefinitionTarget[] {
  const schema = textOf(newschema) ?? textOf(relation.schemaname);
  const isRenamed = NAMED_AS_RELATIONS.has(textOf(renameType) ?? "");
  const name = isRenamed ? textOf(newname) : null;
  const moved = textOf(newschema) === null ? null : textOf(relation.relname);
  const taken = name ?? moved;
  return taken === null ? [] : [{ schema, name: taken, ...created, kind: "relation" }];
}

function changedRelations(
  { type, node, parent, field }: VisitedNode,
  kind: string,
  statement: TreeNode,
): readonly DefinitionTarget[] {
  const name = type === "RangeVar" ? textOf(node.relname) : null;
  const isCreated = parent === kind && field === ownValue(CREATED_RELATIONS, kind);
  if (name === null || isCreated || !isTarget(parent, field)) return [];
  return [{
    kind: "relation",
    schema: textOf(node.schemaname),
    name,
    effect: "change",
    mayExist: true,
    mayMiss: statement.missing_ok === true && node === statement.relation,
  }];
}

/** Objects that a statement names without a relation's node. */
function namedTargets(kind: string, statement: TreeNode): readonly DefinitionTarget[] {
  const changed = {
    effect: "change",
    mayExist: true,
    mayMiss: statement.missing_ok === true,
  } as const;
  if (kind === "AlterEnumStmt" || kind === "AlterDomainStmt") {
    const parts = nameParts(statement.typeName) ?? [];
    return [{ ...splitName(parts), ...changed, kind: "type" }];
  }
  const objectKind = textOf(statement.removeType) ?? textOf(statement.objtype) ??
    textOf(statement.renameType) ?? textOf(statement.objectType) ?? "";
  const objects = statement.objects === undefined
    ? statement.object === undefined ? [] : [statement.object]
    : listOf(statement.objects);
  return objects.flatMap((object): DefinitionTarget[] => {
    if (TYPE_KINDS.has(objectKind)) {
      return [{ ...splitName(typeParts(object)), ...changed, kind: "type" }];
    }
    const below = ownValue(RELATION_KINDS, objectKind);
    const parts = nameParts(wrappedNode(object)?.node.items) ?? [];
    if (below === undefined || parts.length <= below) return [];
    const relation = below === 0 ? parts : parts.slice(0, -below);
    return [{ ...splitName(relation), ...changed, kind: "relation" }];
  });
}

/** The table that is to own a sequence, with which it is dropped. */
function ownerOfSequence(option: TreeValue): readonly DefinitionTarget[] {
  const { defname, arg } = wrappedNode(option)?.node ?? {};
  const parts = defname === "owned_by" ? nameParts(wrappedNode(arg)?.node.items) ?? [] : [];
  // One part is NONE.
  if (parts.length < 2) return [];
  const changed = { effect: "change", mayExist: true, mayMiss: false } as const;
  return [{ ...splitName(parts.slice(0, -1)), ...changed, kind: "relation" }];
}

function typeParts(object: TreeValue): readonly string[] {
  const wrapped = wrappedNode(object);
  if (wrapped?.type === "TypeName") return nameParts(wrapped.node.names) ?? [];
  const [first] = listOf(wrapped?.node.items);
  return wrappedNode(first)?.type === "TypeName"
    ? typeParts(first ?? null)
    : nameParts(wrapped?.node.items) ?? [];
}

function usedTypes({ type, node, parent }: VisitedNode): readonly DefinitionTarget[] {
  if (type !== "TypeName" || parent === "DropStmt") return [];
  const parts = nameParts(node.names) ?? [];
  if (parts.length === 0 || SERIAL.test(parts.join("."))) return [];
  const used = { kind: "type", effect: "use", mayExist: true, mayMiss: false } as const;
  return [{ ...splitName(parts), ...used }];
}

function splitName(parts: readonly string[]) {
  return { schema: parts.length > 1 ? parts[0] ?? null : null, name: parts.at(-1) ?? "" };
}
