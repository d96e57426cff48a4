import { constantNumber, constantText, formatWidth, numberDigits } from "./constant_value.ts";
import {
  isNode,
  listOf,
  nameParts,
  ownValue,
  stringNode,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  wrappedNode,
} from "./syntax_tree.ts";

/** The length that is assumed of a parameter. */
const PARAMETER_CHARACTERS = 100;
/** A number in the middle of a text, and other texts of functions. */
const SHORT = 64;
/** Escaping writes up to so many characters for one. */
const ESCAPED = 6;

const ESCAPING_FUNCTIONS: ReadonlySet<string> = new Set(
  ("array_to_json encode json json_agg json_array json_build_array json_build_object json_object " +
    "jsonb_agg jsonb_build_array jsonb_build_object jsonb_object jsonb_pretty quote_ident " +
    "quote_literal quote_nullable row_to_json to_json to_jsonb xmlcomment xmltext").split(" "),
);

/** Upper bounds of the lengths of values, by the node that computes them. */
export type Sizes = ReadonlyMap<TreeNode, number>;

/**
 * An upper bound of the length of a node's value, given the lengths of its parts.
 *
 * @param column The length of the constants that a column may stand for; 0 for rows of tables.
 */
export function sizeOf({ type, node }: VisitedNode, sizes: Sizes, column: number): number {
  switch (type) {
    case "A_Const":
      return isNode(node.fval) ? numberDigits(node.fval.fval) : constantText(node)?.length ?? 20;
    case "ColumnRef":
      return column;
    case "ParamRef":
      return PARAMETER_CHARACTERS;
    case "A_Expr":
      return sizeOfOperation(node, sizes);
    case "FuncCall":
      return sizeOfCall(lastName(node.funcname), listOf(node.args), sizes);
    case "A_Indirection":
      return sizeOfValue(node.arg, sizes) * escapingOf(node);
    case "TypeCast":
      return Math.max(sizeOfValue(node.arg, sizes), paddedLength(node));
    case "RowExpr":
    case "A_ArrayExpr":
    case "XmlExpr":
    case "JsonObjectConstructor":
    case "JsonArrayConstructor":
      // The text of a row or a list doubles quotes.
      return ESCAPED / 2 * (SHORT + sum(allParts(node), sizes));
    default:
      return Math.max(0, ...allParts(node).map((part) => sizes.get(part) ?? 0));
  }
}

function sizeOfOperation(node: TreeNode, sizes: Sizes): number {
  const [left, right] = partsOf("A_Expr", node).map((part) => sizeOfValue(part, sizes));
  const both = (left ?? 0) + (right ?? 0);
  switch (lastName(node.name)) {
    case "||":
      return both;
    case "*":
    case "/":
      // With the column of a table, the planner does not compute it.
      return left === 0 || right === 0 ? 0 : both;
    case "^":
      return left === 0 ? 0 : powerDigits(left ?? 0, node.rexpr);
    default:
      return Math.max(left ?? 0, right ?? 0);
  }
}

function powerDigits(base: number, exponent: TreeValue | undefined): number {
  return Math.max(SHORT, base * Math.max(1, constantNumber(exponent) ?? 1));
}

/** Functions whose result may be much longer than their arguments. */
const GROWING: Readonly<
  Record<string, (args: readonly TreeValue[], lengths: readonly number[]) => number>
> = {
  array_fill: ([, dimensions], [value = 0]) => value * productOf(dimensions),
  array_to_string: (_, [list = 0, between = 0]) => list * Math.max(1, between),
  exp: ([exponent]) => Math.max(SHORT, constantNumber(exponent) ?? 1),
  factorial: ([number]) => Math.max(SHORT, 5 * (constantNumber(number) ?? 1)),
  format: ([pattern], lengths) => ESCAPED * total(lengths) + formatWidth(pattern),
  lpad: ([, length], lengths) => Math.max(...lengths, constantNumber(length) ?? 1),
  pow: ([, exponent], [base = 0]) => powerDigits(base, exponent),
  power: ([, exponent], [base = 0]) => powerDigits(base, exponent),
  regexp_replace: (_, [text = 0, , to = 0]) => (text + 1) * Math.max(1, to),
  repeat: ([, count], [text = 0]) => Math.max(1, text) * (constantNumber(count) ?? 1),
  replace: (_, [text = 0, , to = 0]) => text * Math.max(1, to),
  rpad: ([, length], lengths) => Math.max(...lengths, constantNumber(length) ?? 1),
};

function sizeOfCall(name: string, args: readonly TreeValue[], sizes: Sizes): number {
  const lengths = args.map((arg) => sizeOfValue(arg, sizes));
  const growing = ownValue(GROWING, name);
  if (growing !== undefined) return growing(args, lengths);
  const escaped = ESCAPING_FUNCTIONS.has(name) ? ESCAPED : 1;
  return args.length === 0 ? 0 : escaped * total(lengths) + SHORT;
}

/** `(value).name` may call a function. */
function escapingOf({ indirection }: TreeNode): number {
  const calls = listOf(indirection).filter((step) =>
    ESCAPING_FUNCTIONS.has(stringNode(step) ?? "")
  );
  return ESCAPED ** calls.length;
}

/** `char(n)` and `bit(n)` fill a value up to their length. */
function paddedLength({ typeName }: TreeNode): number {
  const type = isNode(typeName) ? typeName : {};
  const padded = ["bpchar", "bit", "char"].includes(lastName(type.names));
  return padded
    ? Math.max(0, ...listOf(type.typmods).map((number) => constantNumber(number) ?? 0))
    : 0;
}

function productOf(list: TreeValue | undefined): number {
  const wrapped = wrappedNode(list);
  if (wrapped?.type !== "A_ArrayExpr") return 1;
  return listOf(wrapped.node.elements)
    .reduce((product: number, element) => product * Math.max(1, constantNumber(element) ?? 1), 1);
}

/** The operands of an operator, or the arguments of a call. */
export function partsOf(type: string | null, node: TreeNode): readonly (TreeValue | undefined)[] {
  return type === "A_Expr" ? [node.lexpr, node.rexpr] : listOf(node.args);
}

/** The length of a value that is a node or a list of nodes. */
export function sizeOfValue(value: TreeValue | undefined, sizes: Sizes): number {
  const wrapped = wrappedNode(value);
  if (wrapped !== null) return sizes.get(wrapped.node) ?? 0;
  return Math.max(0, ...listOf(value).map((item) => sizeOfValue(item, sizes)));
}

function allParts(node: TreeNode): readonly TreeNode[] {
  const parts: TreeNode[] = [];
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value as readonly TreeValue[] : [value]) {
      if (isNode(item)) parts.push(wrappedNode(item)?.node ?? item);
    }
  }
  return parts;
}

function sum(parts: readonly TreeNode[], sizes: Sizes): number {
  return total(parts.map((part) => sizes.get(part) ?? 0));
}

function total(lengths: readonly number[]): number {
  return lengths.reduce((all, length) => all + length, 0);
}

/** The last part of a qualified name; empty if there is none. */
export function lastName(value: TreeValue | undefined): string {
  return nameParts(value)?.at(-1) ?? "";
}
