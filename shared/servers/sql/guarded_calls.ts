import { forbidden, type NodeFinding } from "./check_context.ts";
import { sizeOf, sizeOfValue } from "./constant_growth.ts";
import { constantNumber, literalText } from "./constant_value.ts";
import {
  isNode,
  lastName,
  listOf,
  nameParts,
  ownValue,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  visitNodes,
} from "./syntax_tree.ts";

/**
 * A schema of functions and operators that check the lengths of their arguments, because no timeout
 * interrupts the built-in ones; see the migration that creates them. They are slower, and no index
 * answers them.
 */
export interface GuardSchema {
  readonly name: `supaswarm_${"growth" | Kind}_guards`;
  /** Only if a parameter is longer than {@linkcode SHORT_CHARACTERS}. */
  readonly isForLongParameters: boolean;
  /** Not if an index of the statement's tables may answer the call, which computed it for each row. */
  readonly isUnlessIndexed: boolean;
}

/** Maximum length of a constant or parameter that any value can be searched for. */
export const SHORT_CHARACTERS = 250;
/** Maximum number of calculations with numbers from rows. */
const MAX_CALCULATIONS = 4;
/** Maximum number of values that a statement joins or converts to text, and in subqueries. */
const MAX_JOINED_VALUES = 12;
const MAX_JOINED_IN_QUERIES = 4;
/** Maximum factor by which a call may lengthen a value. */
const MAX_FACTOR = 1_000;

/** Functions whose time grows with the product of the lengths of two arguments. */
const SEARCHING_FUNCTIONS: ReadonlySet<string> = new Set(
  ("array_to_string arraycontained arraycontains arrayoverlap bpchariclike bpcharicnlike bpcharlike bpcharnlike btrim " +
    "bytealike byteanlike jsonb_contained jsonb_contains jsonb_exists_all " +
    "jsonb_exists_any like ltrim nameiclike nameicnlike namelike namenlike notlike position replace " +
    "rtrim split_part string_to_array string_to_table strpos texticlike texticnlike textlike " +
    "textnlike translate ts_rank ts_rank_cd tsq_mcontained tsq_mcontains").split(" "),
);
const SEARCHING_OPERATORS: ReadonlySet<string> = new Set(
  "!~~ !~~* && <@ ?& ?| @> ~~ ~~*".split(" "),
);
/** The deletion of many keys of a JSON value. */
const DELETING_FUNCTIONS: ReadonlySet<string> = new Set(["jsonb_delete"]);
const DELETING_OPERATORS: ReadonlySet<string> = new Set(["-"]);
/** Functions and operators whose time grows with the product of the digits of numbers. */
const CALCULATING_FUNCTIONS: ReadonlySet<string> = new Set(
  ("div exp factorial gcd lcm ln log mod numeric_div numeric_div_trunc numeric_exp numeric_ln " +
    "numeric_log numeric_mod numeric_mul numeric_power numeric_sqrt pow power sqrt width_bucket")
    .split(" "),
);
const CALCULATING_OPERATORS: ReadonlySet<string> = new Set(["%", "*", "/", "^"]);
/** Comparisons of all points of a path or polygon with those of another; others have these names too. */
const SHAPE_FUNCTIONS: ReadonlySet<string> = new Set(
  "path_distance path_inter poly_contain poly_contained poly_distance poly_overlap poly_same".split(
    " ",
  ),
);
const SHAPE_OPERATORS: ReadonlySet<string> = new Set("&& <-> <@ ?# @> ~=".split(" "));
/** Functions that read a text in a time that can grow with the square of its length. */
const READING_FUNCTIONS: ReadonlySet<string> = new Set(
  ("is_normalized jsonb_pretty normalize phraseto_tsquery plainto_tsquery to_tsquery ts_headline " +
    "websearch_to_tsquery").split(" "),
);
/** The same, which full text search does for each row that no index answers. */
const WORD_FUNCTIONS: ReadonlySet<string> = new Set(
  "json_to_tsvector jsonb_to_tsvector to_tsvector".split(" "),
);
/**
 * Functions whose result is about as long as their arguments at most. Any other function of values
 * from rows counts as one that builds long values.
 */
const KEEPING_FUNCTIONS: ReadonlySet<string> = new Set([
  ...SEARCHING_FUNCTIONS,
  ...CALCULATING_FUNCTIONS,
  ...("abs age avg bool_and bool_or cbrt ceil ceiling char_length character_length corr count cume_dist " +
    "current_setting date date_bin date_part date_trunc dense_rank email every extract first_value " +
    "floor generate_series json_array_elements json_array_elements_text json_array_length json_each " +
    "json_each_text json_extract_path json_extract_path_text json_object_keys json_typeof " +
    "jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_each jsonb_each_text " +
    "jsonb_extract_path jsonb_extract_path_text jsonb_object_keys jsonb_path_exists jsonb_path_match " +
    "jsonb_path_query jsonb_path_query_array jsonb_path_query_first jsonb_typeof jwt lag last_value " +
    "lead left length like_escape lower lpad make_date make_interval max md5 min mode now nth_value " +
    "ntile num_nonnulls num_nulls octet_length percent_rank percentile_cont percentile_disc " +
    "phraseto_tsquery plainto_tsquery random rank regexp_count regexp_instr regexp_like " +
    "regexp_match regexp_matches regexp_replace regexp_split_to_table regexp_substr regr_slope right role " +
    "round row_number rpad scale setweight sign starts_with stddev stddev_pop stddev_samp substr " +
    "substring sum timezone to_char to_date to_number to_timestamp to_tsquery to_tsvector trim_scale " +
    "trunc ts_headline uid unnest upper var_pop var_samp variance websearch_to_tsquery").split(" "),
]);
/** Functions that lengthen a value by their other arguments. */
const LENGTHENING_FUNCTIONS: ReadonlySet<string> = new Set(
  "array_to_string lpad regexp_replace replace rpad".split(" "),
);
/** Functions that join their arguments. */
const JOINING_FUNCTIONS: ReadonlySet<string> = new Set(
  "concat concat_ws jsonb_build_array jsonb_build_object json_build_array json_build_object".split(
    " ",
  ),
);
const JOINING_NODES: ReadonlySet<string | null> = new Set([
  "A_ArrayExpr",
  "JsonArrayConstructor",
  "JsonObjectConstructor",
  "RowExpr",
  "XmlExpr",
]);
const COLLECTING_NODES: ReadonlySet<string | null> = new Set([
  "JsonArrayAgg",
  "JsonArrayQueryConstructor",
  "JsonObjectAgg",
]);
/** Types whose text may be longer than their values, or than the text that they were. */
const LONGER_TYPES: ReadonlySet<string> = new Set("bytea json jsonb text varchar".split(" "));
const QUERIES: ReadonlySet<string | null> = new Set([
  "CommonTableExpr",
  "RangeFunction",
  "RangeSubselect",
]);

type Kind = "key" | "number" | "search" | "shape" | "text" | "word";

/** Functions and operators with a guard. */
export const GUARDED: Readonly<
  Record<Kind, { readonly functions: ReadonlySet<string>; readonly operators: ReadonlySet<string> }>
> = {
  key: { functions: DELETING_FUNCTIONS, operators: DELETING_OPERATORS },
  number: { functions: CALCULATING_FUNCTIONS, operators: CALCULATING_OPERATORS },
  search: { functions: SEARCHING_FUNCTIONS, operators: SEARCHING_OPERATORS },
  shape: { functions: SHAPE_FUNCTIONS, operators: SHAPE_OPERATORS },
  text: { functions: READING_FUNCTIONS, operators: new Set() },
  word: { functions: WORD_FUNCTIONS, operators: new Set() },
};
const KINDS = ["key", "number", "search", "shape", "text", "word"] as const;
/** The number of values from rows with which a call takes long, where it is not one more than a constant. */
const FEWEST_FROM_ROWS: Readonly<Record<Kind, number>> = {
  key: 2,
  number: 1,
  search: 2,
  shape: 1,
  text: 1,
  word: 1,
};

/** A call of a function or an operator with a guard. */
interface GuardedCall {
  readonly kind: Kind;
  /** It names the schema, or has a form of its own, such as `position(a in b)`. */
  readonly isQualified: boolean;
  readonly name: string;
  /** The operands from rows, and those that are parameters. */
  readonly fromRows: number;
  readonly parameters: number;
  readonly location: TreeValue | undefined;
}

/**
 * The guards that a statement needs. A search of which all operands but one are short takes a time
 * that is proportional to the other one, unless the statement builds long values itself.
 */
export function guardsFor(nodes: readonly VisitedNode[]): readonly GuardSchema[] {
  const calls = nodes.flatMap(guardedCalls);
  const builds = buildsLongValues(nodes);
  const guards = KINDS.flatMap((kind): GuardSchema[] => {
    const own = calls.filter((call) => call.kind === kind);
    const isNeeded = builds
      ? own.some(({ fromRows, parameters }) => fromRows + parameters > 0)
      : own.filter(({ fromRows }) => fromRows >= FEWEST_FROM_ROWS[kind]).length >
        (kind === "number" ? MAX_CALCULATIONS : 0);
    return isNeeded || own.some(({ parameters }) => parameters > 0)
      ? [{
        name: `supaswarm_${kind}_guards`,
        isForLongParameters: !isNeeded,
        // A value that the statement builds itself is in no index.
        isUnlessIndexed: kind === "word" && !builds,
      }]
      : [];
  });
  const growth: GuardSchema = {
    name: "supaswarm_growth_guards",
    isForLongParameters: false,
    isUnlessIndexed: false,
  };
  return builds ? [...guards, growth] : guards;
}

/** Refuses calls that cannot be replaced by those of the guards. */
export function unguardedFindings(nodes: readonly VisitedNode[]): readonly NodeFinding[] {
  return [...nodes.flatMap(repeatingCall), ...nodes.flatMap(qualifiedCall)];
}

/** Functions that take any number of values of any type, which no function of a guard can. */
const JOINING_ANY_FUNCTIONS: ReadonlySet<string> = new Set(["concat", "concat_ws", "format"]);
/** Maximum number of values that a pattern of `format()` inserts. */
const MAX_INSERTED_VALUES = 50;

/** A call that joins as many long values as there are in a list, or as a pattern says. */
function repeatingCall({ type, node }: VisitedNode): NodeFinding[] {
  const name = type === "FuncCall" ? lastName(node.funcname) : "";
  if (!JOINING_ANY_FUNCTIONS.has(name) || kindOf(node.args) !== "rows") return [];
  const [pattern] = listOf(node.args);
  const inserted = name !== "format" || pattern === undefined
    ? 0
    : (literalText(pattern)?.split("%").length ?? Infinity) - 1;
  return node.func_variadic === true || inserted > MAX_INSERTED_VALUES
    ? [forbidden(
      `No timeout interrupts this call of ${name}: use array_to_string(list, separator), or a ` +
        `constant pattern with at most ${MAX_INSERTED_VALUES} values.`,
      node.location,
    )]
    : [];
}

function qualifiedCall(visited: VisitedNode): NodeFinding[] {
  return guardedCalls(visited)
    .filter(({ kind, isQualified, fromRows, parameters }) =>
      isQualified &&
      fromRows + parameters >= Math.max(FEWEST_FROM_ROWS[kind], kind === "number" ? 2 : 1)
    )
    .map(({ name, location }) =>
      forbidden(
        `No timeout interrupts this call of ${name} with long values: ` +
          (ownValue(PLAIN_CALLS, name) ?? "use it without a schema."),
        location,
      )
    );
}

/** Calls that do the same as one with a form of its own, which names the schema. */
const PLAIN_CALLS: Readonly<Record<string, string>> = {
  is_normalized: "use is_normalized(text, 'NFC').",
  normalize: `use "normalize"(text, 'NFC').`,
  position: "use strpos(text, part).",
};

/** How a node that calls a function or an operator names it and its operands. */
interface CallForm {
  name(node: TreeNode): TreeValue | undefined;
  operands(node: TreeNode): readonly (TreeValue | undefined)[];
}

const CALL_FORMS: Readonly<Record<string, CallForm>> = {
  A_Expr: { name: ({ name }) => name, operands: ({ lexpr, rexpr }) => [lexpr, rexpr] },
  FuncCall: { name: ({ funcname }) => funcname, operands: ({ args }) => listOf(args) },
  SubLink: {
    name: ({ operName }) => operName,
    operands: ({ testexpr, subselect }) => [testexpr, subselect],
  },
};

function guardedCalls({ type, node }: VisitedNode): GuardedCall[] {
  const form = ownValue(CALL_FORMS, type ?? "");
  if (form === undefined) return [];
  const parts = nameParts(form.name(node)) ?? [];
  const name = parts.at(-1) ?? "";
  const names = type === "FuncCall" ? "functions" : "operators";
  return KINDS.filter((kind) => GUARDED[kind][names].has(name)).map((kind) => {
    const operands = form.operands(node).map(kindOf);
    return {
      kind,
      isQualified: parts.length > 1,
      name,
      fromRows: operands.filter((operand) => operand === "rows").length,
      parameters: operands.filter((operand) => operand === "parameter").length,
      location: node.location,
    };
  });
}

/** Whether a value is made only of short constants, or also of parameters, or of more. */
function kindOf(value: TreeValue | undefined): "short" | "parameter" | "rows" {
  if (value === undefined) return "short";
  const nodes = (Array.isArray(value) ? value : [value])
    .flatMap((item) => isNode(item) ? [...visitNodes(item)] : []);
  if (nodes.some(({ type }) => FROM_ROWS.has(type))) return "rows";
  const sizes = new Map<TreeNode, number>();
  // Parents come before their parts.
  for (const visited of nodes.toReversed()) sizes.set(visited.node, sizeOf(visited, sizes, 0));
  if (sizeOfValue(value, sizes) > SHORT_CHARACTERS) return "rows";
  return nodes.some(({ type }) => type === "ParamRef") ? "parameter" : "short";
}

/** Nodes with values from rows. */
const FROM_ROWS: ReadonlySet<string | null> = new Set(["ColumnRef", "SelectStmt", "SubLink"]);

/** Whether a statement builds values that may be much longer than those that it reads. */
function buildsLongValues(nodes: readonly VisitedNode[]): boolean {
  if (nodes.some(isBuilding)) return true;
  const joined = nodes.reduce((sum, visited) => sum + joinedValues(visited), 0);
  const hasQueries = nodes.some(({ type }) => QUERIES.has(type));
  return joined > (hasQueries ? MAX_JOINED_IN_QUERIES : MAX_JOINED_VALUES);
}

function isBuilding({ type, node }: VisitedNode): boolean {
  if (type === "WithClause") return node.recursive === true;
  if (type === "SubLink") return textOf(node.subLinkType) === "ARRAY_SUBLINK";
  if (type !== "FuncCall") return COLLECTING_NODES.has(type);
  const name = lastName(node.funcname);
  if (LENGTHENING_FUNCTIONS.has(name)) return isLengthening(listOf(node.args));
  return !KEEPING_FUNCTIONS.has(name) && !JOINING_FUNCTIONS.has(name) &&
    // An aggregate of a constant grows with the number of rows too.
    (node.agg_star === true || listOf(node.args).length > 0);
}

/** Whether a call may make its first argument much longer by the others. */
function isLengthening(args: readonly TreeValue[]): boolean {
  return args.slice(1).some((value) =>
    kindOf(value) !== "short" ||
    literalText(value) === null && (constantNumber(value) ?? 0) > MAX_FACTOR
  );
}

/** How many values from rows an expression joins to longer ones. */
function joinedValues({ type, node }: VisitedNode): number {
  if (type === "TypeCast") {
    const name = isNode(node.typeName) ? lastName(node.typeName.names) : "";
    return LONGER_TYPES.has(name) && kindOf(node.arg) === "rows" ? 1 : 0;
  }
  const parts = type === "A_Expr" && lastName(node.name) === "||"
    ? [node.lexpr, node.rexpr]
    : type === "FuncCall" && JOINING_FUNCTIONS.has(lastName(node.funcname))
    ? listOf(node.args)
    : JOINING_NODES.has(type)
    ? listOf(node.elements ?? node.args ?? node.exprs)
    : [];
  const fromRows = parts.filter((part) => kindOf(part) !== "short").length;
  return fromRows > 1 ? fromRows : 0;
}
