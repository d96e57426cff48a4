import type { Sizes } from "./constant_growth.ts";
import { textOf, type TreeNode, type VisitedNode } from "./syntax_tree.ts";

/** The subqueries of a statement, whose columns may stand for constants. */
export interface ConstantScopes {
  /** The number of subqueries. */
  readonly count: number;
  /** The length of the longest constant that a column reference may stand for. */
  columnSize(reference: TreeNode, sizes: Sizes): number;
}

/** A query with the subqueries, functions and common table expressions that it selects from. */
interface Scope {
  readonly depth: number;
  readonly outer: Scope | null;
  readonly sources: TreeNode[];
  /** Names that may be those of common table expressions. */
  readonly names: string[];
}

const SOURCES: ReadonlySet<string | null> = new Set(["RangeSubselect", "RangeFunction"]);

/** Finds out which query each column reference belongs to. */
export function constantScopes(nodes: readonly VisitedNode[]): ConstantScopes {
  const scopes = new Map<TreeNode, Scope>();
  const named = new Map<string, TreeNode[]>();
  let scope: Scope = { depth: 0, outer: null, sources: [], names: [] };
  // Parents come before their parts, and all parts before the next sibling.
  for (const { type, node, depth } of nodes) {
    while (scope.outer !== null && depth <= scope.depth) scope = scope.outer;
    if (type === "ColumnRef") scopes.set(node, scope);
    if (type === "RangeVar") scope.names.push(textOf(node.relname) ?? "");
    if (SOURCES.has(type)) scope.sources.push(node);
    if (type === "CommonTableExpr") {
      const name = textOf(node.ctename) ?? "";
      named.set(name, [...named.get(name) ?? [], node]);
    }
    if (type === "SelectStmt") scope = { depth, outer: scope, sources: [], names: [] };
  }
  return {
    count: nodes.filter(({ type }) => SOURCES.has(type) || type === "CommonTableExpr").length,
    columnSize: (reference, sizes) => sizeIn(scopes.get(reference) ?? null, named, sizes),
  };
}

function sizeIn(
  innermost: Scope | null,
  named: ReadonlyMap<string, readonly TreeNode[]>,
  sizes: Sizes,
): number {
  let largest = 0;
  for (let scope = innermost; scope !== null; scope = scope.outer) {
    const sources = [...scope.sources, ...scope.names.flatMap((name) => named.get(name) ?? [])];
    largest = Math.max(largest, ...sources.map((source) => sizes.get(source) ?? 0));
  }
  return largest;
}
