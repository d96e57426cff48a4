import { allowedFunctions, CALLER_FUNCTIONS, WRITING_FUNCTIONS } from "./allowed_functions.ts";
import { literalText } from "./constant_value.ts";
import { finding, forbidden, type NodeFinding, type NodeInContext } from "./check_context.ts";
import { searchPathOf, type SqlPolicy } from "./sql_policy.ts";
import { listOf, nameParts, type TreeNode, type TreeValue } from "./syntax_tree.ts";

/** Calls of built-in functions without side effects, and of those that the policy allows. */
export function functionRule({ node, policy }: NodeInContext): NodeFinding | null {
  const { location } = node;
  const parts = nameParts(node.funcname);
  if (parts === null || parts.length === 0 || parts.length > 2) {
    return forbidden("A function's name has a schema and a name at most.", location);
  }
  const name = parts.at(-1) ?? "";
  const schema = parts.length === 2 ? parts[0] ?? null : null;
  if (schema === null || schema === "pg_catalog") {
    const known = builtInFinding(name, node);
    if (known !== "unknown") return known;
  }
  return projectFunctionFinding(schema, name, policy, location);
}

function builtInFinding(name: string, node: TreeNode): NodeFinding | null | "unknown" {
  if (name === "current_setting") return settingOfCall(node);
  if (WRITING_FUNCTIONS.has(name)) {
    return finding("write", `${name}() changes data.`, node.location);
  }
  return allowedFunctions().has(name) ? null : "unknown";
}

function projectFunctionFinding(
  schema: string | null,
  name: string,
  policy: SqlPolicy,
  location: TreeValue | undefined,
): NodeFinding | null {
  const candidates = schema === null
    ? searchPathOf(policy).map((searched) => `${searched}.${name}`)
    : [`${schema}.${name}`];
  const isIn = (names: readonly string[]) => candidates.some((key) => names.includes(key));
  if (isIn(policy.writeFunctions)) return finding("write", `${name}() changes data.`, location);
  if (isIn(policy.readFunctions) || isIn([...CALLER_FUNCTIONS])) return null;
  const shown = schema === null ? name : `${schema}.${name}`;
  const problem = forbidden(
    `The function ${shown}() is not on the list of allowed functions.`,
    location,
  );
  return schema === null ? { ...problem, unknownFunction: name } : problem;
}

/** A setting's name, as in `SHOW` and `current_setting()`. */
export function settingFinding(name: string | null, location?: TreeValue): NodeFinding | null {
  if (name !== null && ALLOWED_SETTINGS.has(name.toLowerCase())) return null;
  return forbidden(
    name === null
      ? "current_setting() takes the name of a setting as a constant."
      : `The setting "${name}" is not on the list of readable settings.`,
    location,
  );
}

function settingOfCall(node: TreeNode): NodeFinding | null {
  const [first] = listOf(node.args);
  return settingFinding(literalText(first), node.location);
}

/**
 * Settings that `SHOW` and `current_setting()` may read: display of values and configuration of the
 * server. Everything else is refused, because projects store secrets in their own settings and
 * claims are in `request.*`.
 */
const ALLOWED_SETTINGS: ReadonlySet<string> = new Set([
  "block_size",
  "bytea_output",
  "client_encoding",
  "datestyle",
  "default_text_search_config",
  "default_transaction_isolation",
  "default_transaction_read_only",
  "effective_cache_size",
  "extra_float_digits",
  "in_hot_standby",
  "integer_datetimes",
  "intervalstyle",
  "lc_collate",
  "lc_ctype",
  "lc_messages",
  "lc_monetary",
  "lc_numeric",
  "lc_time",
  "lock_timeout",
  "max_connections",
  "max_identifier_length",
  "max_index_keys",
  "random_page_cost",
  "search_path",
  "seq_page_cost",
  "server_encoding",
  "server_version",
  "server_version_num",
  "shared_buffers",
  "standard_conforming_strings",
  "statement_timeout",
  "timezone",
  "transaction_isolation",
  "transaction_read_only",
  "work_mem",
  "xmlbinary",
  "xmloption",
]);
