import type { LinkableTable } from "./linkable_table.ts";

/** Maximum characters of a comment in a prompt. */
const MAX_COMMENT_CHARACTERS = 160;

/** Names that do not need quotes. */
const PLAIN_NAME = /^[a-z_][a-z0-9_$]*$/;

/**
 * A table in one line, which models read as well as its definition at a fraction of the tokens:
 * `orders(id bigint key, user_id uuid -> users.id, total numeric) -- what was sold`.
 */
export function describeTable(table: LinkableTable, tables: readonly LinkableTable[]): string {
  const columns = table.columns.map(({ name, type, comment }) => {
    const key = table.primaryKey.includes(name) ? " key" : "";
    return `${quoted(name)} ${shortType(type)}${key}${targetOf(name, table, tables)}${
      remark(comment, " /* ", " */")
    }`;
  });
  const keys = table.foreignKeys.filter(({ columns }) => columns.length > 1).map(
    ({ columns, target, targetColumns }) =>
      `; (${columns.map(quoted).join(", ")}) -> ${nameOf(tables[target])}(${
        targetColumns.map(quoted).join(", ")
      })`,
  );
  return `${nameOf(table)}(${columns.join(", ")}${keys.join("")})${
    remark(table.comment, " -- ", "")
  }`;
}

/** A table's name in SQL; `public` is omitted. */
export function nameOf(table: Pick<LinkableTable, "schema" | "name"> | undefined): string {
  if (table === undefined) return "";
  const name = quoted(table.name);
  return table.schema === "public" ? name : `${quoted(table.schema)}.${name}`;
}

function quoted(name: string): string {
  return PLAIN_NAME.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

function targetOf(
  column: string,
  { foreignKeys }: LinkableTable,
  tables: readonly LinkableTable[],
): string {
  const key = foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === column);
  const [target] = key?.targetColumns ?? [];
  if (key === undefined || target === undefined) return "";
  return ` -> ${nameOf(tables[key.target])}.${quoted(target)}`;
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
