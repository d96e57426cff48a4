import { quoteName, sqlName } from "../schema/quote_name.ts";
import type { LinkableTable } from "./linkable_table.ts";

/** Maximum characters of a comment in a prompt. */
const MAX_COMMENT_CHARACTERS = 160;

/**
 * A table in one line, which models read as well as its definition at a fraction of the tokens:
 * `orders(id bigint key, user_id uuid -> users.id, total numeric) -- what was sold`. The types of its
 * columns have lines of their own, see {@linkcode describeTypes}.
 */
export function describeTable(table: LinkableTable, tables: readonly LinkableTable[]): string {
  const columns = table.columns.map(({ name, type, comment, origin }) => {
    const key = table.primaryKey.includes(name) ? " key" : "";
    return `${quoteName(name)} ${shortType(type)}${key}${origin === undefined ? "" : ` ${origin}`}${
      targetOf(name, table, tables)
    }${remark(comment, " /* ", " */")}`;
  });
  const keys = table.foreignKeys.filter(({ columns }) => columns.length > 1).map(
    ({ columns, target, targetColumns }) =>
      `; (${columns.map(quoteName).join(", ")}) -> ${nameOf(tables[target])}(${
        targetColumns.map(quoteName).join(", ")
      })`,
  );
  return `${nameOf(table)}(${columns.join(", ")}${keys.join("")})${
    table.form === undefined ? "" : ` ${table.form}`
  }${remark(table.comment, " -- ", "")}`;
}

/** The lines of the types of these tables: each once, because many columns share a type. */
export function describeTypes(tables: readonly LinkableTable[]): string[] {
  return [...new Set(tables.flatMap(({ types = [] }) => types))];
}

/** A table's name in SQL; `public` is omitted. */
export function nameOf(table: Pick<LinkableTable, "schema" | "name"> | undefined): string {
  if (table === undefined) return "";
  return sqlName({ ...table, schema: table.schema === "public" ? null : table.schema });
}

function targetOf(
  column: string,
  { foreignKeys }: LinkableTable,
  tables: readonly LinkableTable[],
): string {
  const key = foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === column);
  const [target] = key?.targetColumns ?? [];
  if (key === undefined || target === undefined) return "";
  return ` -> ${nameOf(tables[key.target])}.${quoteName(target)}`;
}

function shortType(type: string): string {
  return type
    .replace("character varying", "varchar")
    .replace("timestamp with time zone", "timestamptz")
    .replace("timestamp without time zone", "timestamp")
    .replace("double precision", "float8");
}

/** One line, without characters that would end a comment. */
function remark(comment: string | null, before: string, after: string): string {
  const text = comment?.replace(/\s+/g, " ").replaceAll("*/", "* /").trim() ?? "";
  return text === "" ? "" : `${before}${text.slice(0, MAX_COMMENT_CHARACTERS)}${after}`;
}
