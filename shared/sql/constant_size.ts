import { isNode, listOf, nameParts, textOf, type TreeNode, wrappedNode } from "./syntax_tree.ts";
import type { TreeValue } from "./syntax_tree.ts";

/**
 * Maximum size of a value built from constants. The planner computes calls with constant arguments
 * even for EXPLAIN, and a timeout cannot interrupt such a step.
 */
const MAX_CONSTANT_CHARACTERS = 1_000_000;

/** Nodes whose value depends on rows: the planner does not compute them. */
const LATE_NODES: ReadonlySet<string> = new Set(["ColumnRef", "ParamRef", "SubLink"]);

/** Built-in functions whose result may be much longer than their arguments. */
const GROWING: Readonly<Record<string, (args: readonly TreeValue[]) => number>> = {
  repeat: ([text, count]) => constantLength(text) * constantNumber(count),
  lpad: ([text, length]) => Math.max(constantLength(text), constantNumber(length)),
  rpad: ([text, length]) => Math.max(constantLength(text), constantNumber(length)),
  replace: ([text, , to]) => constantLength(text) * Math.max(1, constantLength(to)),
  array_fill: ([, dimensions]) => constantProduct(dimensions),
};

/**
 * The reason why a call with constant arguments builds too large a value; null if it does not. A
 * size that cannot be computed counts as too large. Values that depend on rows are limited by
 * timeouts.
 */
export function constantSizeProblem(name: string, call: TreeNode): string | null {
  if (!Object.hasOwn(GROWING, name) || isLate(call)) return null;
  return sizeOfCall(name, call) <= MAX_CONSTANT_CHARACTERS
    ? null
    : `${name}() with these constants builds more than ${MAX_CONSTANT_CHARACTERS} characters ` +
      "while the statement is planned.";
}

function sizeOfCall(name: string, call: TreeNode): number {
  const size = Object.hasOwn(GROWING, name) ? GROWING[name]?.(listOf(call.args)) : undefined;
  return size ?? Number.POSITIVE_INFINITY;
}

function isLate(root: TreeNode): boolean {
  const waiting: TreeValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value);
    if (!isNode(value)) continue;
    if (Object.keys(value).some((key) => LATE_NODES.has(key))) return true;
    waiting.push(...Object.values(value));
  }
  return false;
}

/** An upper bound of a constant text's length; infinite if unknown. */
function constantLength(value: TreeValue | undefined): number {
  const wrapped = wrappedNode(value);
  switch (wrapped?.type) {
    case "A_Const":
      return isNode(wrapped.node.sval) ? textOf(wrapped.node.sval.sval)?.length ?? 0 : 20;
    case "TypeCast":
      return constantLength(wrapped.node.arg);
    case "A_Expr":
      return isOperator(wrapped.node, "||")
        ? constantLength(wrapped.node.lexpr) + constantLength(wrapped.node.rexpr)
        : Number.POSITIVE_INFINITY;
    case "FuncCall":
      return sizeOfCall(nameParts(wrapped.node.funcname)?.at(-1) ?? "", wrapped.node);
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** A constant integer; infinite for anything that must be computed. */
function constantNumber(value: TreeValue | undefined): number {
  const wrapped = wrappedNode(value);
  if (wrapped?.type === "TypeCast") return constantNumber(wrapped.node.arg);
  if (wrapped?.type !== "A_Const" || !isNode(wrapped.node.ival)) return Number.POSITIVE_INFINITY;
  const { ival = 0 } = wrapped.node.ival;
  return typeof ival === "number" ? Math.max(0, ival) : Number.POSITIVE_INFINITY;
}

function constantProduct(value: TreeValue | undefined): number {
  const wrapped = wrappedNode(value);
  if (wrapped?.type !== "A_ArrayExpr") return Number.POSITIVE_INFINITY;
  return listOf(wrapped.node.elements).reduce(
    (product: number, element) => product * constantNumber(element),
    1,
  );
}

function isOperator(node: TreeNode, operator: string): boolean {
  const parts = nameParts(node.name);
  return parts?.length === 1 && parts[0] === operator;
}
