import { literalText } from "./constant_value.ts";
import {
  isNode,
  lastName,
  listOf,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  wrappedNode,
} from "./syntax_tree.ts";
import type { NamedWrite } from "./verdict.ts";

/** The tables that a statement writes, with the columns that it sets. */
export function writesOf(nodes: readonly VisitedNode[]): readonly NamedWrite[] {
  return nodes.flatMap(({ type, node }): NamedWrite[] => {
    switch (type) {
      case "InsertStmt":
        return writeOf(node, "insert", insertedColumns(node));
      case "UpdateStmt":
        return writeOf(node, "update", columnsOf(node.targetList));
      case "DeleteStmt":
        return writeOf(node, "delete", []);
      case "MergeStmt":
        return listOf(node.mergeWhenClauses).flatMap((clause) => mergeWrite(node, clause));
      default:
        return [];
    }
  });
}

/** The sequences, as texts, whose next value a statement takes. */
export function advancedSequences(nodes: readonly VisitedNode[]): readonly string[] {
  return nodes.flatMap(({ type, node }) => {
    const isNext = type === "FuncCall" && lastName(node.funcname) === "nextval";
    return isNext ? textWithoutCasts(listOf(node.args)[0]) || [] : [];
  });
}

function writeOf(
  { relation }: TreeNode,
  command: NamedWrite["command"],
  columns: readonly string[] | null,
): NamedWrite[] {
  const name = isNode(relation) ? textOf(relation.relname) : null;
  if (!isNode(relation) || name === null) return [];
  return [{ schema: textOf(relation.schemaname), name, command, columns }];
}

/** Null if the statement does not name them. */
function insertedColumns({ cols, selectStmt }: TreeNode): readonly string[] | null {
  if (cols !== undefined) return columnsOf(cols);
  return selectStmt === undefined ? [] : null;
}

function mergeWrite(merge: TreeNode, clause: TreeValue): NamedWrite[] {
  const { commandType, targetList } = wrappedNode(clause)?.node ?? {};
  switch (commandType) {
    case "CMD_INSERT":
      return writeOf(merge, "insert", targetList === undefined ? null : columnsOf(targetList));
    case "CMD_UPDATE":
      return writeOf(merge, "update", columnsOf(targetList));
    case "CMD_DELETE":
      return writeOf(merge, "delete", []);
    default:
      return [];
  }
}

function columnsOf(targets: TreeValue | undefined): readonly string[] {
  return listOf(targets).flatMap((target) => textOf(wrappedNode(target)?.node.name) ?? []);
}

function textWithoutCasts(value: TreeValue | undefined): string | null {
  const wrapped = wrappedNode(value);
  return wrapped?.type === "TypeCast" ? textWithoutCasts(wrapped.node.arg) : literalText(value);
}
