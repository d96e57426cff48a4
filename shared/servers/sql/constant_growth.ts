import { constantNumber, constantText, formatWidth, numberDigits } from "./constant_value.ts";
import {
  isNode,
  lastName,
  listOf,
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
 * An upper bound of the length of a value that the planner computes, given those of its parts; 0 for
 * a value that depends on rows, which it does not compute.
 *
 * @param column The length of the constants that a column may stand for.
 */
export function sizeOf({ type, node }: VisitedNode, sizes: Sizes, column: number): number {
  switch (type) {
    case "A_Const":
      return sizeOfConstant(node);
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
      return 2 * (SHORT + total(allParts(node).map((part) => sizes.get(part) ?? 0)));
    default:
      return Math.max(0, ...allParts(node).map((part) => sizes.get(part) ?? 0));
  }
}

function sizeOfConstant(constant: TreeNode): number {
  if (isNode(constant.fval)) return numberDigits(constant.fval.fval);
  if (isNode(constant.ival)) return String(constant.ival.ival ?? 0).length;
  return Math.max(1, constantText(constant)?.length ?? 1);
}

function sizeOfOperation({ name, lexpr, rexpr }: TreeNode, sizes: Sizes): number {
  const operands = [lexpr, rexpr].filter((operand) => operand !== undefined);
  const lengths = operands.map((operand) => sizeOfValue(operand, sizes));
  if (lengths.includes(0)) return 0;
  switch (lastName(name)) {
    case "||":
    case "*":
    case "/":
      return total(lengths);
    case "^":
      return powerDigits(lengths[0] ?? 1, numberIn(rexpr, sizes));
    default:
      return Math.max(...lengths);
  }
}

function powerDigits(base: number, exponent: number): number {
  return Math.max(SHORT, base * Math.max(1, exponent));
}

/** An upper bound of a number that the planner computes. */
function numberIn(value: TreeValue | undefined, sizes: Sizes): number {
  return constantNumber(value) ?? 10 ** sizeOfValue(value, sizes);
}

/** The arguments of a call, which the planner computes, with their lengths. */
interface ConstantCall {
  readonly args: readonly TreeValue[];
  readonly lengths: readonly number[];
  /** The value of an argument that is a number. */
  numberAt(index: number): number;
}

/** Functions whose result may be much longer than their arguments. */
const GROWING: Readonly<Record<string, (call: ConstantCall) => number>> = {
  array_fill: ({ args: [, dimensions], lengths: [value = 1] }) => value * productOf(dimensions),
  array_to_string: ({ lengths: [list = 1, between = 1] }) => list * between,
  exp: ({ numberAt }) => Math.max(SHORT, numberAt(0)),
  factorial: ({ numberAt }) => Math.max(SHORT, 5 * numberAt(0)),
  format: ({ args: [pattern], lengths }) => ESCAPED * total(lengths) + formatWidth(pattern),
  lpad: ({ lengths, numberAt }) => Math.max(...lengths, numberAt(1)),
  pow: ({ lengths: [base = 1], numberAt }) => powerDigits(base, numberAt(1)),
  power: ({ lengths: [base = 1], numberAt }) => powerDigits(base, numberAt(1)),
  regexp_replace: ({ lengths: [text = 1, , to = 1] }) => (text + 1) * to,
  repeat: ({ lengths: [text = 1], numberAt }) => text * numberAt(1),
  replace: ({ lengths: [text = 1, , to = 1] }) => text * to,
  rpad: ({ lengths, numberAt }) => Math.max(...lengths, numberAt(1)),
};

/** The name by which a calculation is known: `numeric_power` runs the same code as `power`. */
export function calculationName(name: string): string {
  return name.replace(/^numeric_/, "");
}

function sizeOfCall(name: string, args: readonly TreeValue[], sizes: Sizes): number {
  const lengths = args.map((arg) => sizeOfValue(arg, sizes));
  // The planner computes no other function without arguments.
  if (lengths.length === 0) return name === "pi" ? SHORT : 0;
  if (lengths.includes(0)) return 0;
  const growing = ownValue(GROWING, calculationName(name));
  if (growing !== undefined) {
    return growing({ args, lengths, numberAt: (index) => numberIn(args[index], sizes) });
  }
  return (ESCAPING_FUNCTIONS.has(name) ? ESCAPED : 1) * total(lengths) + SHORT;
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

function total(lengths: readonly number[]): number {
  return lengths.reduce((all, length) => all + length, 0);
}
