/** A node of libpg-query's JSON: protobuf field names, without default values. */
export type TreeNode = { readonly [field: string]: TreeValue };

/** The value of a node's field. */
export type TreeValue = string | number | boolean | null | TreeNode | readonly TreeValue[];

/** A statement of a parsed text. */
export interface RawStatement {
  readonly stmt: TreeNode;
  /** In bytes of UTF-8. */
  readonly stmt_location?: number;
  /** In bytes of UTF-8; absent if it extends to the end of the text. */
  readonly stmt_len?: number;
}

/** A visited node of a tree. */
export interface VisitedNode {
  /** Its type, for example `RangeVar`; null if the field's type is not known. */
  readonly type: string | null;
  readonly node: TreeNode;
  /** The type of its parent node, and the field in it. */
  readonly parent: string;
  readonly field: string;
  readonly depth: number;
}

/**
 * Fields whose message is not wrapped in its type's name, because the grammar allows only one type.
 * A field that is missing here has the type null, which no rule allows.
 */
const UNWRAPPED: Readonly<Record<string, string>> = {
  alias: "Alias",
  // A JsonKeyValue below JsonObjectAgg; both contain the same kinds of nodes.
  arg: "JsonValueExpr",
  authrole: "RoleSpec",
  bound: "PartitionBoundSpec",
  boolval: "Boolean",
  bsval: "BitString",
  collClause: "CollateClause",
  constructor: "JsonAggConstructor",
  context_item: "JsonValueExpr",
  cycle_clause: "CTECycleClause",
  expr: "JsonValueExpr",
  format: "JsonFormat",
  fval: "Float",
  infer: "InferClause",
  into: "IntoClause",
  intoClause: "IntoClause",
  ival: "Integer",
  join_using_alias: "Alias",
  larg: "SelectStmt",
  name: "RangeVar",
  newowner: "RoleSpec",
  ofTypename: "TypeName",
  onConflictClause: "OnConflictClause",
  on_empty: "JsonBehavior",
  on_error: "JsonBehavior",
  output: "JsonOutput",
  over: "WindowDef",
  partbound: "PartitionBoundSpec",
  partspec: "PartitionSpec",
  pathspec: "JsonTablePathSpec",
  pktable: "RangeVar",
  rarg: "SelectStmt",
  rel: "RangeVar",
  relation: "RangeVar",
  returning: "JsonReturning",
  search_clause: "CTESearchClause",
  sequence: "RangeVar",
  sval: "String",
  typeName: "TypeName",
  typevar: "RangeVar",
  val: "JsonValueExpr",
  value: "JsonValueExpr",
  view: "RangeVar",
  withClause: "WithClause",
};

/**
 * Every node including the root, without recursion: a tree may be deeper than the caller's stack.
 * The order is undefined.
 */
export function* visitNodes(root: TreeNode): Generator<VisitedNode> {
  const waiting: VisitedNode[] = [unwrapped(root, "", "", 1)];
  for (let visited = waiting.pop(); visited !== undefined; visited = waiting.pop()) {
    yield visited;
    for (const field of Object.keys(visited.node)) {
      const value = visited.node[field];
      if (typeof value === "object" && value !== null) addChildren(waiting, visited, field, value);
    }
  }
}

function addChildren(
  waiting: VisitedNode[],
  parent: VisitedNode,
  field: string,
  value: TreeValue,
): void {
  const values = Array.isArray(value) ? value : [value];
  for (const item of values) {
    // An empty element stands for NULL, for example a function without a column list.
    if (!isNode(item) || (Array.isArray(value) && Object.keys(item).length === 0)) continue;
    waiting.push(unwrapped(item, parent.type ?? "", field, parent.depth + 1));
  }
}

function unwrapped(item: TreeNode, parent: string, field: string, depth: number): VisitedNode {
  const wrapped = wrappedNode(item);
  return wrapped === null
    ? { type: ownValue(UNWRAPPED, field) ?? null, node: item, parent, field, depth }
    : { ...wrapped, parent, field, depth };
}

/** The type and content of `{"RangeVar": {…}}`; null for a node that is not wrapped. */
export function wrappedNode(
  item: TreeValue | undefined,
): { readonly type: string; readonly node: TreeNode } | null {
  if (!isNode(item)) return null;
  const names = Object.keys(item);
  const [type] = names;
  if (type === undefined || names.length > 1 || type < "A" || type >= "[") return null;
  const node = item[type];
  return isNode(node) ? { type, node } : null;
}

/** Whether a value is a node rather than a text, a number or a list. */
export function isNode(value: TreeValue | undefined): value is TreeNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field's list; empty if the field is absent. */
export function listOf(value: TreeValue | undefined): readonly TreeValue[] {
  return Array.isArray(value) ? value : [];
}

/** A field's text; null if the field is absent or empty. */
export function textOf(value: TreeValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The text of a `String` node; null for any other node. */
export function stringNode(value: TreeValue | undefined): string | null {
  const wrapped = wrappedNode(value);
  return wrapped?.type === "String" ? textOf(wrapped.node.sval) ?? "" : null;
}

/** The parts of a qualified name; null if a part is not a name. */
export function nameParts(value: TreeValue | undefined): readonly string[] | null {
  const parts = listOf(value).map(stringNode);
  return parts.every((part) => part !== null) ? parts as string[] : null;
}

/** The last part of a qualified name; empty if there is none. */
export function lastName(value: TreeValue | undefined): string {
  return nameParts(value)?.at(-1) ?? "";
}

/** A record's own member: `constructor` and similar names can be fields of trees. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
