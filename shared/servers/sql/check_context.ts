import { quoteName } from "./schema/quote_name.ts";
import type { SqlPolicy } from "./sql_policy.ts";
import { textOf, type TreeNode, type TreeValue } from "./syntax_tree.ts";

/** A finding whose position is still a byte offset. */
export interface NodeFinding {
  readonly statementClass: "write" | "ddl" | "forbidden";
  readonly reason: string;
  readonly byteLocation: number | null;
  /** The unknown name of a built-in function, for a hint. */
  readonly unknownFunction?: string;
}

/** A visited node and the policy to check it against. */
export interface NodeInContext {
  readonly node: TreeNode;
  /** The type of its parent node, and the field in it. */
  readonly parent: string;
  readonly field: string;
  readonly policy: SqlPolicy;
}

/** A node's effect on its statement's class; null if it is a plain read. */
export type NodeRule = (visited: NodeInContext) => NodeFinding | null;

/** Forbids the statement. */
export function forbidden(reason: string, location?: TreeValue): NodeFinding {
  return finding("forbidden", reason, location);
}

/** Raises the statement's class to at least this. */
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

/** The reason why a statement may not name a schema; null if it may. */
export function schemaProblem(schema: string | null, allowed: readonly string[]): string | null {
  if (schema === null || allowed.includes(schema)) return null;
  const meant = allowed.filter((name) => name.toLowerCase() === schema.toLowerCase());
  return meant.length === 0
    ? `The schema "${schema}" is not exposed: ask an operator to add it to the SQL policy.`
    : `There is no exposed schema ${quoteName(schema)}: write ${
      meant.map(quoteName).join(" or ")
    }, because a name without quotes is read in lower case.`;
}

/** A field's text for a message. */
export function named(value: TreeValue | undefined): string {
  return `"${textOf(value) ?? ""}"`;
}
