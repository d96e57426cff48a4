import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  ifNotIn,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { PostgreSQL, sql, type SQLNamespace } from "@codemirror/lang-sql";
import type { ReadableTable } from "../../queries/tables.ts";
import { quoteName } from "../../../../shared/servers/sql/schema/quote_name.ts";

/** Keywords of everyday statements; Postgres knows hundreds more. */
const COMMON = new Set(
  ("select from where group by order having limit offset join left inner on using as and or not in " +
    "is null like ilike between case when then else end distinct with union all values insert into " +
    "update set delete returning exists asc desc count sum avg min max coalesce true false now " +
    "interval date cast lateral over partition filter").split(" "),
);
/** Added to how well a name matches: the project's own names come before words of the language. */
const BOOST = { column: 60, table: 50, common: 10, rare: -60 };

/** Parts of a statement in which no name stands. */
const WITHOUT_NAMES = ["QuotedIdentifier", "String", "LineComment", "BlockComment"];

/** The SQL language of the editor, whose completion knows these tables. */
export function sqlWithTables(tables: readonly ReadableTable[]): Extension {
  const language = sql({
    dialect: PostgreSQL,
    schema: namespaceOf(tables),
    defaultSchema: "public",
    keywordCompletion: (label, type) => ({
      label,
      type,
      boost: COMMON.has(label) ? BOOST.common : BOOST.rare,
    }),
  });
  return [
    language,
    language.language.data.of({ autocomplete: ifNotIn(WITHOUT_NAMES, columnSource(tables)) }),
    // The font of the icons is missing on many systems.
    autocompletion({ icons: false }),
  ];
}

function namespaceOf(tables: readonly ReadableTable[]): SQLNamespace {
  const schemas = Map.groupBy(tables, ({ schema_name: name }) => name);
  return Object.fromEntries([...schemas].map(([schema, members]) => [
    schema,
    Object.fromEntries(members.map((table) => [table.name, {
      self: completionOf(table.name, { type: "type", detail: table.kind, boost: BOOST.table }),
      children: columnsOf(table),
    }])),
  ]));
}

function columnsOf({ columns }: ReadableTable): Completion[] {
  return columns.map(({ name, type }) =>
    completionOf(name, { type: "property", detail: type, boost: BOOST.column })
  );
}

function completionOf(name: string, parts: Omit<Completion, "label">): Completion {
  return { label: name, apply: quoteName(name), ...parts };
}

/**
 * Offers the columns of the tables that a statement names, wherever a name can stand. The package's
 * own source offers them only after a table's name and a dot.
 */
export function columnSource(
  tables: readonly ReadableTable[],
): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const word = context.matchBefore(/[\w$]+/);
    if (word === null || context.matchBefore(/\.[\w$]*/) !== null) return null;
    const words = new Set(context.state.doc.toString().match(/[\w$]+/g));
    const named = tables.filter(({ name }) => words.has(name));
    const columns = new Map(named.flatMap(columnsOf).map((column) => [column.label, column]));
    return { from: word.from, options: [...columns.values()], validFor: /^[\w$]*$/ };
  };
}
