import { fencedText } from "../../../platform/values/markdown_text.ts";
import { nearestNames } from "../../../platform/values/nearest_names.ts";
import type { ErrorFix } from "./sql_context.ts";
import { stripConstants } from "./strip_constants.ts";

/** A failed statement, and the one that worked instead. */
export interface FixedStatement {
  readonly failedSql: string;
  readonly error: string;
  readonly fixedSql: string;
}

/**
 * The lesson from a failure that the next attempt fixed: the error without data, and the working
 * statement. Null if it cannot be expressed without user data.
 */
export async function proposeFix(
  { failedSql, error, fixedSql }: FixedStatement,
): Promise<ErrorFix | null> {
  const words = errorWithoutData(error);
  const fixed = await stripConstants(fixedSql);
  if (fixed === null || words === "") return null;
  const title = titleOf(words);
  const renamed = renamedTo(failedSql, fixedSql, words);
  const fix = renamed === null
    ? `Write it in this way:\n\n${fencedText(fixed, "sql")}`
    : `Use \`${renamed}\` instead`;
  return { title, error: words, fix };
}

/** PostgreSQL's own message; text quoted after a colon is a value. */
function errorWithoutData(error: string): string {
  return error
    .replace(/^PostgreSQL rejected the statement: /, "")
    .replace(/ \(SQLSTATE[\s\S]*$/, "")
    .replace(/ (near|Detail:|Hint:|Similar names:) [\s\S]*$/, "")
    .replace(/: ["'][\s\S]*$/, "")
    // An identifier must neither end the code span nor begin a fix of its own.
    .replaceAll("`", "'")
    .replace(/\*+/g, "*")
    .replace(/\s+/g, " ")
    .replace(/[\p{Bidi_Control}\p{Cc}]/gu, "")
    .trim()
    .slice(0, 300);
}

function titleOf(error: string): string {
  if (/^column\b|\bcolumn\b.*does not exist/.test(error)) return "Column Name Issues";
  if (/^relation\b/.test(error)) return "Table Name Issues";
  if (/^function\b/.test(error)) return "Function Issues";
  if (/^operator\b|\btype\b/.test(error)) return "Type Issues";
  return "Other Issues";
}

/** The name that replaced the missing one in the error. */
function renamedTo(failedSql: string, fixedSql: string, error: string): string | null {
  const missing = /"?([\w$.]+)"? does not exist/.exec(error)?.[1]?.split(".").at(-1);
  if (missing === undefined) return null;
  const before = namesIn(failedSql);
  const added = [...namesIn(fixedSql)].filter((name) => !before.has(name));
  const [only, ...others] = added;
  if (only !== undefined && others.length === 0) return only;
  return nearestNames(missing, added, 1)[0] ?? null;
}

function namesIn(sql: string): Set<string> {
  const withoutTexts = sql.replace(/'(?:[^']|'')*'/g, " ");
  return new Set(withoutTexts.toLowerCase().match(/[a-z_][\w$]*/g) ?? []);
}
