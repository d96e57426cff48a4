import {
  finding,
  forbidden,
  type NodeFinding,
  type NodeInContext,
  type NodeRule,
  schemaProblem,
} from "./check_context.ts";
import { objectNameProblem, qualifiedNameFinding } from "./name_rules.ts";
import { ALLOWED_ALTERATIONS, ALLOWED_OBJECTS } from "./node_types.ts";
import {
  listOf,
  nameParts,
  stringNode,
  textOf,
  type TreeNode,
  type TreeValue,
  wrappedNode,
} from "./syntax_tree.ts";

/** Objects below a relation, whose names have one more part. */
const PARTS_OF_RELATIONS: ReadonlySet<string> = new Set([
  "OBJECT_ATTRIBUTE",
  "OBJECT_COLUMN",
  "OBJECT_TABCONSTRAINT",
]);

const plainDefinition: NodeRule = () => definition();

/**
 * Definitions that a confirmed statement may make, by the type of their node. Rights that row level
 * security does not limit (TRUNCATE, REFERENCES, TRIGGER) cannot be used: a project may have granted
 * them with all others.
 */
export const DEFINITION_RULES: Readonly<Record<string, NodeRule>> = {
  AlterDomainStmt: (visited) => namedDefinition(visited, visited.node.typeName),
  AlterEnumStmt: (visited) => namedDefinition(visited, visited.node.typeName),
  AlterObjectSchemaStmt: (visited) =>
    objectFinding(visited, visited.node.objectType) ??
      schemaFinding(textOf(visited.node.newschema), visited) ??
      definition(),
  AlterSeqStmt: plainDefinition,
  AlterStatsStmt: (visited) => namedDefinition(visited, visited.node.defnames),
  AlterTableCmd: ({ node }) =>
    ALLOWED_ALTERATIONS.has(textOf(node.subtype) ?? "AT_AddColumn")
      ? definition()
      : forbidden(`ALTER TABLE cannot do this here (${node.subtype}): use a migration.`),
  AlterTableStmt: (visited) =>
    objectFinding(visited, visited.node.objtype) ?? viewOptionsFinding(visited.node) ??
      definition(),
  CommentStmt: (visited) => objectFinding(visited, visited.node.objtype) ?? definition(),
  CompositeTypeStmt: plainDefinition,
  Constraint: ({ node }) =>
    node.contype === "CONSTR_FOREIGN"
      ? forbidden(
        "A foreign key tells which rows exist, although row level security may hide them: use a " +
          "migration.",
        node.location,
      )
      : null,
  CreateDomainStmt: (visited) => namedDefinition(visited, visited.node.domainname),
  CreateEnumStmt: (visited) => namedDefinition(visited, visited.node.typeName),
  CreateSchemaStmt: plainDefinition,
  CreateSeqStmt: plainDefinition,
  CreateStatsStmt: (visited) => namedDefinition(visited, visited.node.defnames),
  CreateStmt: plainDefinition,
  CreateTableAsStmt: plainDefinition,
  DropStmt: (visited) => dropFinding(visited) ?? definition(),
  IndexStmt: plainDefinition,
  IntoClause: plainDefinition,
  RefreshMatViewStmt: plainDefinition,
  RenameStmt: (visited) => renameFinding(visited) ?? definition(),
  TruncateStmt: () =>
    forbidden(
      "TRUNCATE deletes the rows of all users, whatever row level security says: use DELETE.",
    ),
  ViewStmt: plainDefinition,
};

function definition(): NodeFinding {
  return finding("ddl", "The statement changes the schema.");
}

function namedDefinition({ policy }: NodeInContext, name: TreeValue | undefined): NodeFinding {
  return qualifiedNameFinding(name, policy.exposedSchemas) ?? definition();
}

function schemaFinding(schema: string | null, { policy }: NodeInContext): NodeFinding | null {
  const problem = schemaProblem(schema, policy.exposedSchemas);
  return problem === null ? null : forbidden(problem);
}

/** The kind of an object, and its name if it is in `object`. */
function objectFinding(visited: NodeInContext, kind: TreeValue | undefined): NodeFinding | null {
  const { node } = visited;
  const type = textOf(kind) ?? "";
  if (!ALLOWED_OBJECTS.has(type)) {
    return forbidden(`Statements cannot define this kind of object (${type}): use a migration.`);
  }
  return node.object === undefined ? null : objectNameFinding(visited, type, node.object);
}

/** A name is a list, one word, a type, or a pair of these for a domain's constraint. */
function objectNameFinding(
  visited: NodeInContext,
  type: string,
  object: TreeValue,
): NodeFinding | null {
  const word = stringNode(object);
  if (word !== null) {
    return type === "OBJECT_SCHEMA" ? schemaFinding(word, visited) : checkName(visited, [word]);
  }
  const wrapped = wrappedNode(object);
  // The node of a type is visited and checked by the rule for types.
  if (wrapped?.type === "TypeName" || type === "OBJECT_DOMCONSTRAINT") return null;
  const parts = nameParts(wrapped?.node.items);
  if (parts === null) return forbidden("The object's name cannot be read.");
  return checkName(visited, PARTS_OF_RELATIONS.has(type) ? parts.slice(0, -1) : parts);
}

function checkName({ policy }: NodeInContext, parts: readonly string[]): NodeFinding | null {
  const problem = objectNameProblem(parts, policy);
  return problem === null ? null : forbidden(problem);
}

function dropFinding(visited: NodeInContext): NodeFinding | null {
  const { objects, removeType } = visited.node;
  const kind = objectFinding(visited, removeType);
  if (kind !== null) return kind;
  for (const object of listOf(objects)) {
    const found = objectNameFinding(visited, textOf(removeType) ?? "", object);
    if (found !== null) return found;
  }
  return null;
}

function renameFinding(visited: NodeInContext): NodeFinding | null {
  const { node } = visited;
  return objectFinding(visited, node.renameType) ??
    (node.renameType === "OBJECT_SCHEMA" ? schemaFinding(textOf(node.subname), visited) : null);
}

/** Options that only views have. */
const VIEW_OPTIONS: ReadonlySet<string> = new Set([
  "check_option",
  "security_barrier",
  "security_invoker",
]);

/**
 * `security_invoker` of a view decides whose rights apply, so a statement must not change it.
 * `ALTER TABLE` changes views too.
 */
function viewOptionsFinding(node: TreeNode): NodeFinding | null {
  const changesOptions = listOf(node.cmds).some((command) => {
    const { subtype, def } = wrappedNode(command)?.node ?? {};
    if (subtype !== "AT_SetRelOptions" && subtype !== "AT_ResetRelOptions") return false;
    return node.objtype === "OBJECT_VIEW" ||
      listOf(wrappedNode(def)?.node.items).some((option) =>
        VIEW_OPTIONS.has(textOf(wrappedNode(option)?.node.defname) ?? "")
      );
  });
  return changesOptions
    ? forbidden("The options of a view decide whose permissions apply: use a migration.")
    : null;
}
