import {
  isNode,
  lastName,
  listOf,
  textOf,
  type TreeNode,
  type TreeValue,
  wrappedNode,
} from "./syntax_tree.ts";

/** The text of a constant; null if it is not a text. */
export function constantText(node: TreeNode): string | null {
  return isNode(node.sval) ? textOf(node.sval.sval) ?? "" : null;
}

/** The text of a value that is a constant without a cast; null unless it is a constant string. */
export function literalText(value: TreeValue | undefined): string | null {
  const wrapped = wrappedNode(value);
  return wrapped?.type === "A_Const" ? constantText(wrapped.node) : null;
}

/**
 * A constant number, or an upper bound of one that is computed from constants; null if it depends on
 * rows or parameters. Infinite if it is computed in a way that is not known.
 */
export function constantNumber(value: TreeValue | undefined): number | null {
  const wrapped = wrappedNode(value);
  if (wrapped?.type === "TypeCast") return constantNumber(wrapped.node.arg);
  if (wrapped?.type === "A_Expr") return boundOf(wrapped.node);
  if (wrapped?.type === "FuncCall" && listOf(wrapped.node.args).length === 0) {
    return lastName(wrapped.node.funcname) === "pi" ? Math.PI : null;
  }
  if (wrapped?.type !== "A_Const") return dependsOnRows(value) ? null : Number.POSITIVE_INFINITY;
  const { ival, fval } = wrapped.node;
  const text = constantText(wrapped.node);
  const number = isNode(ival)
    ? Number(ival.ival ?? 0)
    : Number(isNode(fval) ? fval.fval ?? 0 : text ?? 0);
  return Number.isNaN(number) ? Number.POSITIVE_INFINITY : Math.abs(number);
}

/** The largest absolute value that an operation of constants can have. */
function boundOf({ name, lexpr, rexpr }: TreeNode): number | null {
  const [left, right] = [lexpr === undefined ? 0 : constantNumber(lexpr), constantNumber(rexpr)];
  if (left === null || right === null) return null;
  switch (lastName(name)) {
    case "+":
    case "-":
      return left + right;
    case "*":
      return left * right;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** The number of digits of a numeric constant, which may have an exponent. */
export function numberDigits(constant: TreeValue | undefined): number {
  const text = textOf(constant) ?? "";
  const exponent = Number(/e([+-]?\d+)$/i.exec(text)?.[1] ?? 0);
  return text.length + Math.abs(exponent);
}

/** The sum of the widths in the pattern of `format()`; infinite if it is not a constant. */
export function formatWidth(pattern: TreeValue | undefined): number {
  const text = literalText(pattern);
  if (text === null || text.includes("*")) return Number.POSITIVE_INFINITY;
  return [...text.matchAll(/\d+/g)].reduce((sum, [digits]) => sum + Number(digits), text.length);
}

/** Nodes whose value is not known when a statement is planned. */
const LATE_NODES: ReadonlySet<string> = new Set(["ColumnRef", "ParamRef", "SubLink"]);

function dependsOnRows(value: TreeValue | undefined): boolean {
  const waiting: TreeValue[] = value === undefined ? [] : [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) waiting.push(...next);
    if (!isNode(next)) continue;
    if (Object.keys(next).some((key) => LATE_NODES.has(key))) return true;
    waiting.push(...Object.values(next));
  }
  return false;
}
