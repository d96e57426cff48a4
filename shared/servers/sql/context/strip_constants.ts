import { Buffer } from "node:buffer";
import { blankComments } from "../blank_comments.ts";
import { parseSql, SqlSyntaxError } from "../parse_sql.ts";
import { isNode, type TreeNode, type TreeValue, visitNodes } from "../syntax_tree.ts";
import { withoutTrailing } from "../../../platform/values/without_trailing.ts";

/** A constant of a statement, in bytes of UTF-8. */
interface Constant {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** A type before a text, as in `interval '7 days'`: a parameter takes a cast instead. */
const TYPE_BEFORE_TEXT =
  /\b(interval|date|time|timestamp|timestamptz|timetz|numeric|bytea|uuid|json|jsonb)(\s+with(?:out)?\s+time\s+zone)?\s*$/i;

/**
 * The statement with its strings and numbers replaced by `$1`, `$2` …, so that the learned text
 * contains no user data. Numbers that are positions or sizes (`group by 1`, `limit 5`,
 * `varchar(20)`) stay. Equal constants get the same parameter. Identifiers cannot end a fence or a
 * comment of the file.
 *
 * @returns Null for a text that is not one statement, or whose constants cannot be located.
 */
export async function stripConstants(text: string): Promise<string | null> {
  // Comments contain words, which may be data.
  const sql = (blankComments(text) ?? text).trim();
  try {
    const [statement, ...others] = await parseSql(sql);
    if (statement === undefined || others.length > 0) return null;
    const stripped = plainIdentifiers(withoutConstants(sql, statement.stmt));
    if (stripped === null) return null;
    await parseSql(stripped);
    return withoutTrailing(stripped, " \t\r\n\f\v;").split("\n")
      .map((line) => withoutTrailing(line, " \t")).join("\n");
  } catch (error) {
    if (error instanceof SqlSyntaxError) return null;
    throw error;
  }
}

function withoutConstants(sql: string, tree: TreeNode): string {
  const bytes = Buffer.from(sql);
  const names = new Map<string, string>();
  let next = firstFreeParameter(tree);
  const constants = constantLocations(tree).flatMap((start): Constant[] => {
    const text = bytes.subarray(start).toString();
    const literal = literalAt(text);
    if (literal === null) return [];
    const before = bytes.subarray(0, start).toString();
    const type = literal.startsWith("'") ? TYPE_BEFORE_TEXT.exec(before) : null;
    const key = `${type?.[0] ?? ""}${literal}`;
    const name = names.get(key) ?? `$${next++}`;
    names.set(key, name);
    const end = start + Buffer.byteLength(literal);
    if (type === null) return [{ start, end, replacement: name }];
    const typeStart = start - Buffer.byteLength(type[0]);
    return [{ start: typeStart, end, replacement: `${name}::${type[0].trim()}` }];
  });
  let stripped = "";
  let done = 0;
  for (const { start, end, replacement } of constants) {
    if (start < done) continue;
    stripped += bytes.subarray(done, start).toString() + replacement;
    done = end;
  }
  return stripped + bytes.subarray(done).toString();
}

function firstFreeParameter(tree: TreeNode): number {
  let highest = 0;
  for (const { type, node } of visitNodes(tree)) {
    if (type === "ParamRef" && typeof node.number === "number") {
      highest = Math.max(highest, node.number);
    }
  }
  return highest + 1;
}

function constantLocations(tree: TreeNode): number[] {
  const locations: number[] = [];
  for (const { type, node, parent, field } of visitNodes(tree)) {
    if (type !== "A_Const" || node.isnull === true || node.boolval !== undefined) continue;
    if (isPlaceOrSize(node.ival, parent, field)) continue;
    // A location of 0 is omitted from the tree.
    locations.push(typeof node.location === "number" ? node.location : 0);
  }
  return locations.sort((a, b) => a - b);
}

function isPlaceOrSize(integer: TreeValue | undefined, parent: string, field: string): boolean {
  if (!isNode(integer)) return false;
  return parent === "SortBy" || parent === "TypeName" ||
    ["groupClause", "limitCount", "limitOffset"].includes(field);
}

/** The literal at the start of a text; null if there is none. */
function literalAt(text: string): string | null {
  const number = /^-?\s*(?:0[xob][0-9a-f_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:e[+-]?\d+)?)/i.exec(text);
  if (number !== null) return number[0];
  const dollar = /^\$([\p{L}_][\p{L}\p{N}_]*)?\$/u.exec(text);
  if (dollar !== null) {
    const end = text.indexOf(dollar[0], dollar[0].length);
    return end < 0 ? null : text.slice(0, end + dollar[0].length);
  }
  const escaped = /^e'(?:[^'\\]|\\[\s\S]|'')*'/i.exec(text);
  if (escaped !== null) return escaped[0];
  return /^(?:u&|[bxn])?'(?:[^']|'')*'/i.exec(text)?.[0] ?? null;
}

/** A quoted identifier, with its prefix. */
const IDENTIFIER = /(u&)?"(?:[^"]|"")*"/gi;
/** What could leave a fence or a comment of a file, or hide from a reader of it. */
const UNSAFE = /`|--|<!|[\p{Bidi_Control}\p{Cc}]/gu;
/** The same outside of identifiers, where lines may end. */
const UNSAFE_OUTSIDE = /`|--|<!|[\p{Bidi_Control}]|(?![\n\t])\p{Cc}/u;

/**
 * A statement without comments and constants as text for a file: characters of identifiers that could
 * end a fence or a comment are written as Unicode escapes, so that the statement means the same. Null
 * if such a character is anywhere else.
 */
function plainIdentifiers(sql: string): string | null {
  const plain = sql.replaceAll("\r\n", "\n").replace(IDENTIFIER, (name, prefix?: string) => {
    if (prefix !== undefined || !new RegExp(UNSAFE).test(name)) return name;
    return `U&${name.replaceAll("\\", "\\\\").replace(UNSAFE, toEscapes)}`;
  });
  return UNSAFE_OUTSIDE.test(plain) ? null : plain;
}

function toEscapes(text: string): string {
  return [...text].map((character) => `\\${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
