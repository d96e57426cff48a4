import { finding, forbidden, type NodeFinding, type NodeRule } from "./check_context.ts";
import { DEFINITION_RULES } from "./definition_rules.ts";
import { functionRule, settingFinding } from "./function_rules.ts";
import { collationRule, operatorFinding, relationRule, typeRule } from "./name_rules.ts";
import { EXPLAIN_OPTIONS, PLAIN_NODES, SAMPLING_METHODS, WRITE_NODES } from "./node_types.ts";
import {
  listOf,
  nameParts,
  ownValue,
  stringNode,
  textOf,
  type TreeNode,
  wrappedNode,
} from "./syntax_tree.ts";

const RULES: Readonly<Record<string, NodeRule>> = {
  ...DEFINITION_RULES,
  A_Expr: ({ node }) => operatorFinding(node.name, node),
  A_Indirection: ({ node }) =>
    listOf(node.indirection).reduce<NodeFinding | null>(
      (found, step) => found ?? positionFinding(stringNode(step) ?? "", node),
      null,
    ),
  CollateClause: collationRule,
  ColumnRef: ({ node }) => positionFinding(stringNode(listOf(node.fields).at(-1)) ?? "", node),
  ExplainStmt: ({ node }) => {
    const unknown = listOf(node.options).map((option) =>
      textOf(wrappedNode(option)?.node.defname) ?? ""
    ).find((name) => !EXPLAIN_OPTIONS.has(name));
    return unknown === undefined ? null : forbidden(`EXPLAIN has no option "${unknown}" here.`);
  },
  FuncCall: functionRule,
  LockingClause: () => forbidden("A read must not lock rows: omit FOR UPDATE or FOR SHARE."),
  RangeTableSample: ({ node }) => {
    const method = nameParts(node.method);
    return method?.length === 1 && SAMPLING_METHODS.has(method[0] ?? "")
      ? null
      : forbidden("TABLESAMPLE accepts only system or bernoulli.", node.location);
  },
  RangeVar: relationRule,
  SortBy: ({ node }) => operatorFinding(node.useOp ?? [], node),
  SubLink: ({ node }) => operatorFinding(node.operName ?? [], node),
  RangeTableFunc: ({ node }) => xmlFinding("XMLTABLE", node),
  TypeName: typeRule,
  VariableShowStmt: ({ node }) => settingFinding(textOf(node.name) ?? ""),
  XmlExpr: ({ node }) =>
    node.op === undefined || WRITING_XML.has(textOf(node.op) ?? "")
      ? null
      : xmlFinding("XMLPARSE and IS DOCUMENT", node),
  XmlSerialize: ({ node }) =>
    node.indent === true || node.xmloption === "XMLOPTION_DOCUMENT"
      ? xmlFinding("XMLSERIALIZE with DOCUMENT or INDENT", node)
      : null,
};

/** Columns of every table with the place of a row among those of others, and its transactions. */
const POSITION_COLUMNS: ReadonlySet<string> = new Set(["cmax", "cmin", "ctid", "xmax", "xmin"]);

/** A column by its own name, or as `(row).column`. */
function positionFinding(name: string, { location }: TreeNode): NodeFinding | null {
  return POSITION_COLUMNS.has(name)
    ? forbidden(`"${name}" tells how many rows others have written: use the key.`, location)
    : null;
}

/** Expressions that write XML without reading any. */
const WRITING_XML: ReadonlySet<string> = new Set([
  "IS_XMLCONCAT",
  "IS_XMLELEMENT",
  "IS_XMLFOREST",
  "IS_XMLPI",
  "IS_XMLROOT",
]);

function xmlFinding(name: string, { location }: TreeNode): NodeFinding {
  return forbidden(
    `${name} cannot be used: no timeout interrupts the library that reads XML. Read it as text.`,
    location,
  );
}

/** A node type's effect on its statement's class. An unknown type is forbidden. */
export function ruleOf(type: string | null): NodeRule {
  if (type !== null) {
    const rule = ownValue(RULES, type);
    if (rule !== undefined) return rule;
    if (WRITE_NODES.has(type)) return () => finding("write", "The statement writes rows.");
    if (PLAIN_NODES.has(type)) return () => null;
  }
  return ({ node }) =>
    forbidden(`This is not allowed here: ${statementName(type)}.`, node.location);
}

/** The statement's name derived from the type: `CopyStmt` becomes `COPY`. */
function statementName(type: string | null): string {
  if (type === null) return "an unknown part of a statement";
  return type.replace(/Stmt$/, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ").toUpperCase();
}
