import type { TreeNode } from "./syntax_tree.ts";

/** Fields with a node's position in the text. */
const PLACES: ReadonlySet<string> = new Set([
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
export function canonicalTree(tree: TreeNode): string {
  return JSON.stringify(tree, (name, value) => PLACES.has(name) ? undefined : value);
}
