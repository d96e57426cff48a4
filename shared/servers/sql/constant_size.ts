import { forbidden, type NodeFinding } from "./check_context.ts";
import { calculationName, partsOf, sizeOf, sizeOfValue, type Sizes } from "./constant_growth.ts";
import {
  lastName,
  listOf,
  stringNode,
  textOf,
  type TreeNode,
  type VisitedNode,
} from "./syntax_tree.ts";

/**
 * Maximum length of a value built from constants. The planner computes it even for EXPLAIN, and many
 * functions take a time that grows with the square of the length, which a timeout cannot interrupt.
 */
const MAX_CONSTANT_CHARACTERS = 50_000;
/** Maximum digits of a number that a statement calculates with, for the same reason. */
const MAX_DIGITS = 5_000;
/** Maximum length of a text that is normalized, which takes the square of its combining marks. */
const MAX_NORMALIZED_CHARACTERS = 5_000;
const NORMALIZING_FUNCTIONS: ReadonlySet<string> = new Set(["is_normalized", "normalize"]);
/** Maximum number of multiplications and similar operations, which may all be in one row. */
const MAX_CALCULATIONS = 200;
/** Maximum number of operators and calls. */
const MAX_EXPRESSIONS = 2_000;

const CALCULATING_OPERATORS: ReadonlySet<string> = new Set(["*", "/", "%", "^"]);
const CALCULATING_FUNCTIONS: ReadonlySet<string> = new Set(
  "cbrt div div_trunc exp factorial gcd lcm ln log log10 mod mul pow power sqrt".split(" "),
);
/**
 * Refuses a statement that makes the planner compute large values. A column of a subquery may stand
 * for a constant, which the planner puts in its place.
 */
export function constantFindings(nodes: readonly VisitedNode[]): readonly NodeFinding[] {
  const tooMany = countProblem(nodes);
  if (tooMany !== null) return [forbidden(tooMany)];
  const scopes = constantScopes(nodes);
  // Parents come before their parts, so the reversed order has every part before its parent.
  const partsFirst = nodes.toReversed();
  let sizes: Sizes = new Map();
  // The length of a constant passes through one subquery in each round.
  for (let round = 0; round <= scopes.count; round++) {
    const next = new Map<TreeNode, number>();
    for (const visited of partsFirst) {
      const column = visited.type === "ColumnRef" ? scopes.columnSize(visited.node, sizes) : 0;
      const size = sizeOf(visited, next, column);
      const problem = sizeProblem(visited, size, next);
      if (problem !== null) return [forbidden(problem, visited.node.location)];
      next.set(visited.node, size);
    }
    if (round === scopes.count || isEqual(next, sizes)) return [];
    sizes = next;
  }
  return [];
}

function isEqual(next: Sizes, sizes: Sizes): boolean {
  for (const [node, size] of next) if (sizes.get(node) !== size) return false;
  return true;
}

function countProblem(nodes: readonly VisitedNode[]): string | null {
  const expressions = nodes.filter(({ type }) => type === "A_Expr" || type === "FuncCall");
  const attributes = nodes.flatMap(calledAttributes);
  const count = expressions.length + attributes.length;
  if (count > MAX_EXPRESSIONS) {
    return `The statement has ${count} operators and calls; at most ` +
      `${MAX_EXPRESSIONS} are allowed.`;
  }
  const calculations = expressions.filter(({ type, node }) => isCalculation(type, node)).length +
    attributes.filter(isCalculatingFunction).length;
  return calculations <= MAX_CALCULATIONS
    ? null
    : `The statement has ${calculations} multiplications, divisions and powers; at most ` +
      `${MAX_CALCULATIONS} are allowed.`;
}

function sizeProblem({ type, node }: VisitedNode, size: number, sizes: Sizes): string | null {
  if (isCalculation(type, node)) {
    return Math.max(size, ...partsOf(type, node).map((part) => sizeOfValue(part, sizes))) <=
        MAX_DIGITS
      ? null
      : `The statement calculates with numbers of more than ${MAX_DIGITS} digits.`;
  }
  const isNormalizing = type === "FuncCall" && NORMALIZING_FUNCTIONS.has(lastName(node.funcname));
  if (isNormalizing && size > MAX_NORMALIZED_CHARACTERS) {
    return `The statement normalizes a text of more than ${MAX_NORMALIZED_CHARACTERS} characters.`;
  }
  return size <= MAX_CONSTANT_CHARACTERS
    ? null
    : `The constants of the statement build a value of more than ${MAX_CONSTANT_CHARACTERS} ` +
      "characters while it is planned.";
}

function isCalculation(type: string | null, node: TreeNode): boolean {
  return type === "A_Expr"
    ? CALCULATING_OPERATORS.has(lastName(node.name))
    : type === "FuncCall" && isCalculatingFunction(lastName(node.funcname));
}

function isCalculatingFunction(name: string): boolean {
  return CALCULATING_FUNCTIONS.has(calculationName(name));
}

/** `(value).name` may call a function. */
function calledAttributes({ type, node }: VisitedNode): readonly string[] {
  return type === "A_Indirection"
    ? listOf(node.indirection).flatMap((step) => stringNode(step) ?? [])
    : [];
}

/** The subqueries of a statement, whose columns may stand for constants. */
interface ConstantScopes {
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
function constantScopes(nodes: readonly VisitedNode[]): ConstantScopes {
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
