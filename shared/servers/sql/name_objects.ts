import { isCatalog, isTarget } from "./name_rules.ts";
import {
  isNode,
  lastName,
  listOf,
  nameParts,
  ownValue,
  stringNode,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  wrappedNode,
} from "./syntax_tree.ts";
import type { NamedObjects, NamedRelation, NamedWrite } from "./verdict.ts";
import { literalText } from "./constant_value.ts";

/** The names in a statement's nodes, for checks that need the database. */
export function nameObjects(nodes: readonly VisitedNode[]): NamedObjects {
  const scalars = scalarNames(nodes);
  const attributes = nodes.flatMap((node) => rowAttribute(node, scalars));
  return {
    relations: relationsOf(nodes, false),
    shadowed: relationsOf(nodes, true),
    writes: writesOf(nodes),
    sampled: nodes.flatMap(({ type, node, parent }) =>
      type === "RangeVar" && parent === "RangeTableSample"
        ? [{ schema: textOf(node.schemaname), name: textOf(node.relname) ?? "" }]
        : []
    ),
    advanced: unique(advancedSequences(nodes)),
    functions: unique(nodes.flatMap((node) => [...unqualifiedFunction(node), ...keywords(node)])),
    makesLists: nodes.some(makesList),
    hasTexts: nodes.some(({ type, node }) =>
      type === "ParamRef" || type === "A_Const" && isNode(node.sval)
    ),
    called: unique(
      nodes.flatMap(({ type, node }) => type === "FuncCall" ? lastPart(node.funcname) : []),
    ),
    operators: unique(nodes.flatMap((node) => [
      ...unqualifiedOperator(node),
      ...impliedOperators(node),
    ])),
    rowAttributes: unique(attributes.flatMap(({ name, isOfRow }) => isOfRow ? name : [])),
    attributes: unique([
      ...nodes.flatMap(valueAttributes),
      ...attributes.flatMap(({ name, isOfRow }) => isOfRow ? [] : name),
    ]),
    types: unique(
      nodes.flatMap(({ type, node }) => type === "TypeName" ? lastPart(node.names) : []),
    ),
  };
}

/**
 * The name of a query in one part of a statement may name a relation in another.
 *
 * @param isShadowed Only relations with the name of a query, or only all others.
 */
function relationsOf(
  nodes: readonly VisitedNode[],
  isShadowed: boolean,
): readonly NamedRelation[] {
  const queryNames = new Set(
    nodes.flatMap(({ type, node }) => type === "CommonTableExpr" ? textOf(node.ctename) ?? [] : []),
  );
  const relations = nodes.flatMap(({ type, node, parent, field }) => {
    const name = type === "RangeVar" ? textOf(node.relname) : null;
    if (name === null) return [];
    const schema = textOf(node.schemaname);
    const isQueryName = schema === null && queryNames.has(name) && !isCatalog(schema, name);
    if (isQueryName !== isShadowed) return [];
    return [{ schema, name, isTarget: isTarget(parent, field) }];
  });
  return [...new Map(relations.map((relation) => [JSON.stringify(relation), relation])).values()];
}

/** Whether a node makes a list of values from rows, to whose type a constant beside it is converted. */
function makesList({ type, node }: VisitedNode): boolean {
  if (type === "SubLink") return textOf(node.subLinkType) === "ARRAY_SUBLINK";
  return type === "A_ArrayExpr" &&
    listOf(node.elements).some((element) => !IS_CONSTANT.has(wrappedNode(element)?.type ?? ""));
}

const IS_CONSTANT: ReadonlySet<string> = new Set(["A_Const", "ParamRef"]);

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

/**
 * Names that may stand for the value of a function in `FROM`, with the columns that the statement
 * gives it. Such a "row" is the value itself, so `name.f` calls a function of any type if there is no
 * such column. Null if every name may.
 */
function scalarNames(
  nodes: readonly VisitedNode[],
): ReadonlyMap<string, ReadonlySet<string>> | null {
  const names = new Map<string, ReadonlySet<string>>();
  for (const { type, node } of nodes) {
    if (type !== "RangeFunction") continue;
    const alias = isNode(node.alias) ? node.alias : {};
    const name = textOf(alias.aliasname) ?? functionName(node);
    if (name === null) return null;
    const columns = new Set([
      ...listOf(alias.colnames).flatMap((column) => stringNode(column) ?? []),
      ...listOf(node.coldeflist).flatMap((column) =>
        textOf(wrappedNode(column)?.node.colname) ?? []
      ),
    ]);
    names.set(name, columns.intersection(names.get(name) ?? columns));
  }
  return names;
}

function functionName({ functions }: TreeNode): string | null {
  const [first] = listOf(functions);
  const [call] = listOf(wrappedNode(first)?.node.items);
  const wrapped = wrappedNode(call);
  return wrapped?.type === "FuncCall" ? lastPart(wrapped.node.funcname)[0] ?? null : null;
}

function rowAttribute(
  { type, node }: VisitedNode,
  scalars: ReturnType<typeof scalarNames>,
): readonly { readonly name: string; readonly isOfRow: boolean }[] {
  const fields = type === "ColumnRef" ? listOf(node.fields) : [];
  const name = fields.length > 1 ? stringNode(fields.at(-1)) : null;
  if (name === null) return [];
  if (scalars === null) return [{ name, isOfRow: false }];
  const columns = scalars.get(stringNode(fields.at(-2)) ?? "");
  const isOfRow = columns === undefined || columns.has(name);
  return [{ name, isOfRow }];
}

function valueAttributes({ type, node }: VisitedNode): readonly string[] {
  const steps = type === "A_Indirection" ? listOf(node.indirection) : [];
  return steps.flatMap((step) => stringNode(step) ?? []);
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** The tables that a statement writes, with the columns that it sets. */
function writesOf(nodes: readonly VisitedNode[]): readonly NamedWrite[] {
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
function advancedSequences(nodes: readonly VisitedNode[]): readonly string[] {
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
