import type { Sql } from "../../shared/platform/db/sql_client.ts";
import {
  type ContextFile,
  ContextFileError,
  type LocatedPattern,
  readContextFile,
} from "../../shared/servers/sql/context/context_file.ts";
import { stripConstants } from "../../shared/servers/sql/context/strip_constants.ts";
import type { SqlContext } from "../../shared/servers/sql/context/sql_context.ts";
import { parseSql, SqlSyntaxError } from "../../shared/servers/sql/parse_sql.ts";

/** The result of {@linkcode publishContext}. */
export interface PublishedContext {
  readonly version: number;
  readonly patterns: number;
  readonly fixes: number;
}

/**
 * Publishes a text of `supabase-sql-context.md` as the context of `generate_sql`, without the
 * constants in its queries. An unchanged text keeps its version.
 *
 * @throws ContextFileError when the text is malformed. Then the current context stays in use.
 */
export async function publishContext(sql: Sql, text: string): Promise<PublishedContext> {
  const file = readContextFile(text);
  const patterns = await Promise.all(file.patterns.map(withoutConstants));
  const document = toDocument(file, patterns);
  const [row] = await sql<{ version: number }[]>`
    select private.publish_sql_context(
      ${withQueries(text, file.patterns, patterns)}, ${sql.json(document as unknown as never)}
    ) as version`;
  if (row === undefined) {
    throw new Error("Cannot publish the context: the database returned no version");
  }
  return { version: row.version, patterns: patterns.length, fixes: file.fixes.length };
}

async function withoutConstants(pattern: LocatedPattern): Promise<LocatedPattern> {
  const { sql, title, line } = pattern;
  const stripped = await stripConstants(sql);
  if (stripped !== null) return { ...pattern, sql: stripped };
  throw await describeProblem(sql, title, line);
}

async function describeProblem(sql: string, title: string, line: number): Promise<Error> {
  try {
    const statements = await parseSql(sql);
    const count = statements.length === 0 ? "no statement" : `${statements.length} statements`;
    return new ContextFileError(`the pattern '${title}' has ${count} in one fence`, line);
  } catch (error) {
    if (!(error instanceof SqlSyntaxError)) throw error;
    const linesBefore = sql.slice(0, error.position).split("\n").length - 1;
    const message = `PostgreSQL cannot parse the query of '${title}': ${error.message}`;
    return new ContextFileError(message, line + linesBefore);
  }
}

function toDocument(
  { overview, fixes, insights, modelNotes }: ContextFile,
  patterns: readonly LocatedPattern[],
): SqlContext {
  return {
    overview,
    patterns: patterns.map(({ title, text, sql }) => ({ title, text, sql })),
    fixes,
    insights,
    modelNotes,
  };
}

/** Returns the file with the queries as they are stored. */
function withQueries(
  text: string,
  before: readonly LocatedPattern[],
  after: readonly LocatedPattern[],
): string {
  return before.reduce(
    (content, { sql }, place) => content.replace(sql, () => after[place]?.sql ?? ""),
    text.replaceAll("\r\n", "\n"),
  );
}
