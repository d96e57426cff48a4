import { isCatalog, isTarget } from "./name_rules.ts";
import {
  listOf,
  nameParts,
  ownValue,
  stringNode,
  textOf,
  type TreeValue,
  type VisitedNode,
} from "./syntax_tree.ts";
import type { NamedObjects, NamedRelation } from "./verdict.ts";

/** The names in a statement's nodes, for checks that need the database. */
export function nameObjects(nodes: readonly VisitedNode[]): NamedObjects {
  return {
    relations: relationsOf(nodes),
    functions: unique(nodes.flatMap((node) => [...unqualifiedFunction(node), ...keywords(node)])),
    called: unique(
      nodes.flatMap(({ type, node }) => type === "FuncCall" ? lastPart(node.funcname) : []),
    ),
    operators: unique(nodes.flatMap((node) => [
      ...unqualifiedOperator(node),
      ...impliedOperators(node),
    ])),
    rowAttributes: unique(nodes.flatMap(rowAttribute)),
    attributes: unique(nodes.flatMap(valueAttributes)),
    types: unique(
      nodes.flatMap(({ type, node }) => type === "TypeName" ? lastPart(node.names) : []),
    ),
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

/**
 * The names that PostgreSQL 17 reads as keywords, in the syntax of a call, and older servers read as
 * names of functions.
 */
const KEYWORD_CALLS: Readonly<Record<string, readonly string[]>> = {
  JsonArrayAgg: ["json_arrayagg"],
  JsonArrayConstructor: ["json_array"],
  JsonArrayQueryConstructor: ["json_array"],
  JsonFuncExpr: ["json_exists", "json_query", "json_value"],
  JsonObjectAgg: ["json_objectagg"],
  JsonObjectConstructor: ["json_object"],
  JsonParseExpr: ["json"],
  JsonScalarExpr: ["json_scalar"],
  JsonSerializeExpr: ["json_serialize"],
  JsonTable: ["json_table"],
  MergeSupportFunc: ["merge_action"],
};

function keywords({ type }: VisitedNode): readonly string[] {
  return type === null ? [] : ownValue(KEYWORD_CALLS, type) ?? [];
}

function lastPart(name: TreeValue | undefined): readonly string[] {
  return nameParts(name)?.slice(-1) ?? [];
}

function rowAttribute({ type, node }: VisitedNode): readonly string[] {
  const fields = type === "ColumnRef" ? listOf(node.fields) : [];
  const name = fields.length > 1 ? stringNode(fields.at(-1)) : null;
  return name === null ? [] : [name];
}

function valueAttributes({ type, node }: VisitedNode): readonly string[] {
  const steps = type === "A_Indirection" ? listOf(node.indirection) : [];
  return steps.flatMap((step) => stringNode(step) ?? []);
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
