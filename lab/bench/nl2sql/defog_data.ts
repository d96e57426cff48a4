import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { parseCsv } from "../../../shared/servers/sql/results/read_results.ts";
import { readReferenceData } from "../reference_files.ts";

/** The databases of defog's questions, each in a schema of its name. */
export const DEFOG_SCHEMAS = [
  "academic",
  "advising",
  "broker",
  "ewallet",
  "geography",
  "restaurants",
] as const;

/** A question with a query that answers it. */
export interface GoldQuestion {
  readonly schema: string;
  readonly question: string;
  readonly sql: string;
}

/** Definitions and questions of defog. */
export interface DefogData {
  /** DDL and rows, by schema. */
  readonly scripts: ReadonlyMap<string, string>;
  readonly questions: readonly GoldQuestion[];
}

/** Reads the data beside the checkout. Returns null if there is none. */
export async function readDefogData(): Promise<DefogData | null> {
  const csv = await readText("questions.csv");
  if (csv === null) return null;
  const scripts = new Map<string, string>();
  for (const schema of DEFOG_SCHEMAS) {
    scripts.set(schema, inSchema(await readText(`${schema}.sql`) ?? "", schema));
  }
  const [, ...rows] = parseCsv(csv);
  const questions = rows.flatMap(([schema = "", question = "", query = ""]) =>
    scripts.has(schema) ? [{ schema, question, sql: firstAnswer(query, schema) }] : []
  );
  return { scripts, questions };
}

/** Loads the databases for the role `authenticated`, with the remarks of their DDL as comments. */
export async function loadDefog(sql: Sql, { scripts }: DefogData): Promise<void> {
  for (const [schema, script] of scripts) {
    await sql.unsafe(`
      create schema ${schema};
      set search_path = ${schema};
      ${script};
      ${commentsOf(script)}
      reset search_path;
      grant usage on schema ${schema} to authenticated;
      grant select on all tables in schema ${schema} to authenticated;
      analyze;`);
  }
}

async function readText(name: string): Promise<string | null> {
  const bytes = await readReferenceData(`defog/${name}`);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** Replaces the schema in a script or a query with the database's schema. */
function inSchema(text: string, schema: string): string {
  return text
    .replace(/create schema [^;]*;/gi, "")
    .replace(/\b(public|consumer_div)\./g, `${schema}.`);
}

/** Defog marks columns that are optional in an answer. Keeps all of them. */
function firstAnswer(query: string, schema: string): string {
  const [first = ""] = query.split(";");
  const shown = /\{([^}]+)\}/.exec(first)?.[1] ?? "1";
  return inSchema(first.replace(/\{\}/g, shown).replace(/\{([^}]*)\}/g, "$1"), schema).trim();
}

function commentsOf(script: string): string {
  const comments: string[] = [];
  for (
    const [, table = "", body = ""] of script.matchAll(/create table ([\w.]+) \(([\s\S]*?)\n\);/gi)
  ) {
    for (const [, column = "", remark = ""] of body.matchAll(/^\s*(\w+) [^\n]*?--\s*(.+)$/gm)) {
      comments.push(`comment on column ${table}.${column} is '${remark.replaceAll("'", "''")}';`);
    }
  }
  return comments.join("\n");
}
