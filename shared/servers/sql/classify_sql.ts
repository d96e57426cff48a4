import { Buffer } from "node:buffer";
import { NameHints } from "../../platform/values/nearest_names.ts";
import { allowedFunctions } from "./allowed_functions.ts";
import { blankComments } from "./blank_comments.ts";
import { catalogFindings } from "./catalog_rules.ts";
import type { NodeFinding } from "./check_context.ts";
import { constantFindings } from "./constant_size.ts";
import { toDefinition } from "./definition_limits.ts";
import { expansionFindings } from "./expanded_size.ts";
import { guardsFor, unguardedFindings } from "./guarded_calls.ts";
import { lexicalProblem } from "./lexical_gate.ts";
import { nameObjects } from "./name_objects.ts";
import { ruleOf } from "./node_rules.ts";
import { parseSql, SqlSyntaxError, SqlTooComplexError } from "./parse_sql.ts";
import type { SqlPolicy } from "./sql_policy.ts";
import {
  isNode,
  listOf,
  type RawStatement,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  visitNodes,
  wrappedNode,
} from "./syntax_tree.ts";
import type { Finding, SqlStatement, SqlVerdict, StatementClass } from "./verdict.ts";

/** A statement can have thousands of findings; whoever corrects it reads the first ones. */
const MAX_FINDINGS = 20;

/** Comparing one name with all functions takes milliseconds. */
const MAX_HINTS = 5;
/** Of a result of PostgreSQL. */
const MAX_COLUMNS = 1_664;

/** Ordered from harmless to forbidden; a statement has the highest class of its parts. */
const RANKS = ["read", "write", "ddl", "forbidden"] as const;

/**
 * Classifies a text by its syntax tree in PostgreSQL's own grammar. The verdict depends only on the
 * text and the policy, and never permits anything that the database would refuse.
 *
 * Statements, their parts, functions and relations are checked against allow lists; everything else
 * is forbidden.
 */
export async function classifySql(sql: string, policy: SqlPolicy): Promise<SqlVerdict> {
  const problem = lexicalProblem(sql);
  if (problem !== null) return refused("invalid", problem, null);
  const parsed = await parse(sql);
  if (parsed instanceof SqlTooComplexError) return refused("invalid", parsed.message, null);
  if (parsed instanceof SqlSyntaxError) return refused("invalid", parsed.message, parsed.position);
  const { text, statements } = parsed;
  const [statement, ...others] = statements;
  if (statement === undefined) return refused("invalid", "The text has no statement.", null);
  if (others.length > 0) {
    return refused("multi", `The text has ${statements.length} statements: send one.`, null);
  }
  return judge(text, statement, policy);
}

interface ParsedText {
  /** The parsed text, which is also the text to run. */
  readonly text: string;
  readonly statements: readonly RawStatement[];
}

/** Parses the text unchanged, and without comments if the parser fails on one. */
async function parse(sql: string): Promise<ParsedText | SqlSyntaxError | SqlTooComplexError> {
  const asWritten = await tryParse(sql);
  if (!(asWritten instanceof SqlSyntaxError)) return asWritten;
  const blanked = blankComments(sql);
  const again = blanked === null ? asWritten : await tryParse(blanked);
  return again instanceof Error ? asWritten : again;
}

async function tryParse(text: string): Promise<ParsedText | SqlSyntaxError | SqlTooComplexError> {
  try {
    return { text, statements: await parseSql(text) };
  } catch (error) {
    if (error instanceof SqlSyntaxError || error instanceof SqlTooComplexError) return error;
    throw error;
  }
}

function judge(sql: string, statement: RawStatement, policy: SqlPolicy): SqlVerdict {
  const wide = tooManyColumns(statement.stmt);
  if (wide !== null) return refused("invalid", wide, null);
  const nodes = [...visitNodes(statement.stmt)];
  const found = [
    ...nodes.flatMap(({ type, node, parent, field }) =>
      ruleOf(type)({ node, parent, field, policy }) ?? []
    ),
    ...catalogFindings(nodes),
    ...constantFindings(nodes),
    ...expansionFindings(nodes),
    ...unguardedFindings(nodes),
  ];
  const statementClass = classOf(found, statement.stmt);
  const counting = found.filter((finding) => finding.statementClass === statementClass);
  return {
    statementClass,
    findings: toFindings(counting, sql),
    statement: describe(sql, statement, nodes, statementClass),
  };
}

/** Refused before the parts are visited, because thousands of them take time. */
function tooManyColumns(root: TreeNode): string | null {
  const count = listOf(wrappedNode(root)?.node.targetList).length;
  return count <= MAX_COLUMNS
    ? null
    : `The statement has ${count} columns; at most ${MAX_COLUMNS} are allowed.`;
}

function classOf(
  found: readonly NodeFinding[],
  root: TreeNode,
): Exclude<StatementClass, "multi" | "invalid"> {
  const worst = found.reduce(
    (most, { statementClass }) => Math.max(most, RANKS.indexOf(statementClass)),
    0,
  );
  const statementClass = RANKS[worst] ?? "forbidden";
  // EXPLAIN plans a write without running it; functions that the planner runs are checked above.
  return statementClass === "write" && isPlanOnly(root) ? "read" : statementClass;
}

function isPlanOnly(root: TreeNode): boolean {
  const wrapped = wrappedNode(root);
  return wrapped?.type === "ExplainStmt" && !listOf(wrapped.node.options).some(analyzes);
}

/** Repeated options override each other, so any that may be true counts. */
function analyzes(option: unknown): boolean {
  const node = wrappedNode(option as TreeNode)?.node;
  if (node === undefined || textOf(node.defname) !== "analyze") return false;
  const value = wrappedNode(node.arg)?.node;
  if (value === undefined) return true;
  const isOff = /^(off|false)$/i.test(textOf(value.sval) ?? "") ||
    (Object.keys(value).length === 0 && wrappedNode(node.arg)?.type === "Integer") ||
    (wrappedNode(node.arg)?.type === "Boolean" && value.boolval !== true);
  return !isOff;
}

function describe(
  sql: string,
  { stmt, stmt_location = 0, stmt_len }: RawStatement,
  nodes: readonly VisitedNode[],
  statementClass: StatementClass,
): SqlStatement {
  const bytes = Buffer.from(sql);
  const end = stmt_len === undefined ? bytes.length : stmt_location + stmt_len;
  return {
    text: bytes.subarray(stmt_location, end).toString().trim(),
    canonicalTree: toCanonicalText(stmt),
    kind: wrappedNode(stmt)?.type ?? "",
    isExplain: wrappedNode(stmt)?.type === "ExplainStmt",
    lacksWhere: nodes.some(({ type, node }) =>
      (type === "UpdateStmt" || type === "DeleteStmt") && !namesColumn(node.whereClause)
    ),
    parameterCount: nodes.reduce(
      (most, { type, node }) => type === "ParamRef" ? Math.max(most, Number(node.number)) : most,
      0,
    ),
    guards: guardsFor(nodes),
    named: nameObjects(nodes),
    definition: statementClass === "ddl" ? toDefinition(nodes, stmt) : null,
  };
}

function namesColumn(condition: TreeValue | undefined): boolean {
  return isNode(condition) && [...visitNodes(condition)].some(({ type }) => type === "ColumnRef");
}

/** The first findings of each reason, in text order. */
function toFindings(found: readonly NodeFinding[], sql: string): Finding[] {
  const byReason = new Map<string, NodeFinding>();
  const inOrder = found.toSorted((a, b) => (a.byteLocation ?? 0) - (b.byteLocation ?? 0));
  for (const finding of inOrder) {
    if (!byReason.has(finding.reason)) byReason.set(finding.reason, finding);
  }
  const bytes = Buffer.from(sql);
  const hints = new NameHints();
  return [...byReason.values()].slice(0, MAX_FINDINGS).map((finding, place) => ({
    statementClass: finding.statementClass,
    reason: finding.reason + (place < MAX_HINTS ? similarFunctions(finding, hints) : ""),
    position: finding.byteLocation === null
      ? null
      : bytes.subarray(0, finding.byteLocation).toString().length,
  }));
}

function similarFunctions({ unknownFunction }: NodeFinding, hints: NameHints): string {
  const near = unknownFunction === undefined
    ? []
    : hints.nearest(unknownFunction, allowedFunctions());
  return near.length === 0 ? "" : ` Similar functions: ${near.join(", ")}.`;
}

function refused(
  statementClass: "multi" | "invalid",
  reason: string,
  position: number | null,
): SqlVerdict {
  return { statementClass, findings: [{ statementClass, reason, position }], statement: null };
}

/** Fields with a node's position in the text. */
const POSITION_FIELDS: ReadonlySet<string> = new Set([
  "location",
  "name_location",
  "stmt_len",
  "stmt_location",
  "list_start",
  "list_end",
  "rexpr_list_start",
  "rexpr_list_end",
]);

/**
 * A syntax tree as text: the same for every formatting of a statement, different for any other
 * name, constant or order. Unlike a fingerprint it keeps constants.
 */
function toCanonicalText(tree: TreeNode): string {
  return JSON.stringify(tree, (name, value) => POSITION_FIELDS.has(name) ? undefined : value);
}
