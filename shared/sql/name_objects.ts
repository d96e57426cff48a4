import { isCatalog, isTarget } from "./name_rules.ts";
import { listOf, nameParts, stringNode, textOf, type VisitedNode } from "./syntax_tree.ts";
import type { NamedObjects, NamedRelation } from "./verdict.ts";

/**
 * The names in a statement's nodes: relations without duplicates, and the names of calls and
 * columns.
 */
export function nameObjects(nodes: readonly VisitedNode[]): NamedObjects {
  return {
    relations: relationsOf(nodes),
    functions: unique(nodes.flatMap(unqualifiedFunction)),
    operators: unique(nodes.flatMap((node) => [
      ...unqualifiedOperator(node),
      ...impliedOperators(node),
    ])),
    columns: unique(nodes.flatMap(qualifiedColumn)),
  };
}

function relationsOf(nodes: readonly VisitedNode[]): readonly NamedRelation[] {
  const queryNames = new Set(
    nodes.flatMap(({ type, node }) => type === "CommonTableExpr" ? textOf(node.ctename) ?? [] : []),
  );
  const relations = nodes.flatMap(({ type, node, parent, field }) => {
    const name = type === "RangeVar" ? textOf(node.relname) : null;
    if (name === null) return [];
    const schema = textOf(node.schemaname);
    // The name of a query in one part of a statement may name a catalog in another.
    if (schema === null && queryNames.has(name) && !isCatalog(schema, name)) return [];
    return [{ schema, name, isTarget: isTarget(parent, field) }];
  });
  return [...new Map(relations.map((relation) => [JSON.stringify(relation), relation])).values()];
}

function unqualifiedFunction({ type, node }: VisitedNode): string[] {
  const parts = type === "FuncCall" ? nameParts(node.funcname) ?? [] : [];
  return parts.length === 1 ? [...parts] : [];
}

function unqualifiedOperator({ type, node }: VisitedNode): string[] {
  const name = type === "A_Expr"
    ? node.name
    : type === "SubLink"
    ? node.operName
    : type === "SortBy"
    ? node.useOp
    : undefined;
  const parts = nameParts(name) ?? [];
  return parts.length === 1 ? [...parts] : [];
}

/** Operators that the syntax implies; PostgreSQL also finds them by the search path. */
function impliedOperators({ type, node }: VisitedNode): readonly string[] {
  switch (type) {
    case "A_Expr":
      return COMPARISONS[textOf(node.kind) ?? ""] ?? [];
    case "CaseExpr":
      return node.arg === undefined ? [] : ["="];
    case "SubLink":
      return node.subLinkType === "ANY_SUBLINK" && node.operName === undefined ? ["="] : [];
    case "JoinExpr":
      return node.isNatural === true || listOf(node.usingClause).length > 0 ? ["="] : [];
    default:
      return [];
  }
}

/** The operators of each kind of `BETWEEN`, whose own name is not an operator. */
const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  AEXPR_BETWEEN: [">=", "<="],
  AEXPR_NOT_BETWEEN: ["<", ">"],
  AEXPR_BETWEEN_SYM: [">=", "<="],
  AEXPR_NOT_BETWEEN_SYM: ["<", ">"],
};

/** `row.name` of a column reference, `(row).name` of an expression. */
function qualifiedColumn({ type, node }: VisitedNode): string[] {
  const fields = type === "ColumnRef"
    ? listOf(node.fields).slice(1)
    : type === "A_Indirection"
    ? listOf(node.indirection)
    : [];
  return fields.flatMap((field) => stringNode(field) ?? []);
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
