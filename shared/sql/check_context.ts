import type { SqlPolicy } from "./sql_policy.ts";
import { textOf, type TreeNode, type TreeValue } from "./syntax_tree.ts";

/** A finding whose place is still an offset in bytes. */
export interface NodeFinding {
  readonly statementClass: "write" | "ddl" | "forbidden";
  readonly reason: string;
  readonly byteLocation: number | null;
}

/** A visited node and the policy it is held against. */
export interface NodeInContext {
  readonly node: TreeNode;
  /** The type of the node that holds it, and in which of its fields. */
  readonly parent: string;
  readonly field: string;
  readonly policy: SqlPolicy;
}

/** What a node makes of its statement; null: nothing beyond a read. */
export type NodeRule = (visited: NodeInContext) => NodeFinding | null;

/** Refuses the statement. */
export function forbidden(reason: string, location?: TreeValue): NodeFinding {
  return finding("forbidden", reason, location);
}

/** Makes the statement at least this. */
export function finding(
  statementClass: NodeFinding["statementClass"],
  reason: string,
  location?: TreeValue,
): NodeFinding {
  return {
    statementClass,
    reason,
    byteLocation: typeof location === "number" && location >= 0 ? location : null,
  };
}

/** Why a schema may not be named; null: it may. */
export function schemaProblem(
  schema: string | null,
  allowed: readonly string[],
): string | null {
  return schema === null || allowed.includes(schema)
    ? null
    : `The schema "${schema}" is not exposed: ask an operator to add it to the SQL policy.`;
}

/** A field's text as a sentence names it. */
export function named(value: TreeValue | undefined): string {
  return `"${textOf(value) ?? ""}"`;
}
