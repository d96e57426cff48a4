import type { Json } from "../../../../client/mod.ts";
import type { ToolResult } from "../../results/tool_result.ts";

/** The parts of an `execute_sql` answer that the page shows. */
export interface StatementAnswer {
  readonly statement_class?: string;
  readonly dry_run?: boolean;
  readonly tables?: readonly Json[];
  readonly total_cost?: number | null;
  readonly estimated_rows?: number | null;
  readonly affected_rows?: number;
  readonly warnings?: readonly string[];
  readonly needs_approval?: boolean;
  readonly max_affected_rows?: number;
  readonly expires_at?: string;
  readonly rows?: readonly (readonly Json[])[];
  /** The file for a definition that the user cannot run. */
  readonly proposed_migration?: { readonly path: string; readonly content: string };
  /** For `approve_statement()`. */
  readonly confirmation_id?: string;
  /** The state of an export. */
  readonly file?: { readonly path: string; readonly format: string; readonly size_bytes: number };
  readonly row_count?: number;
  readonly is_truncated?: boolean;
  /** The exact arguments that run a write. */
  readonly next_call?: Readonly<Record<string, Json>>;
}

/** The structured answer of a result; empty if it has none. */
export function statementAnswer({ structuredContent }: ToolResult): StatementAnswer {
  const isObject = typeof structuredContent === "object" && structuredContent !== null;
  return isObject ? structuredContent as StatementAnswer : {};
}

/** The tables of a statement, separated by commas. */
export function tableNames({ tables = [] }: StatementAnswer): string {
  return tables.map((table) => {
    const { schema, name } = (table ?? {}) as { schema?: Json; name?: Json };
    return typeof table === "string" ? table : [schema, name].filter(Boolean).join(".");
  }).join(", ");
}

/** The highest number among the parameters `$1`, `$2` … of a statement. */
export function parameterCount(sql: string): number {
  const numbers = [...sql.matchAll(/\$(\d{1,3})(?![\w$])/g)].map(([, digits]) => Number(digits));
  return Math.max(0, ...numbers);
}

const COMMENTS = /--.*|\/\*[\s\S]*?\*\//g;
const WRITING = /\b(insert|update|delete|merge)\b/i;

/** Whether a statement reads by its first words. The server decides; this saves it a planning. */
export function seemsToRead(sql: string): boolean {
  const text = sql.replace(COMMENTS, " ");
  return /^[\s(]*(select|with|values|table|show|explain)\b/i.test(text) && !WRITING.test(text);
}

/** The statement in a `generate_sql` answer: its field, otherwise its code block. */
export function generatedSql({ structuredContent, content }: ToolResult): string | null {
  const { sql } = (structuredContent ?? {}) as { sql?: unknown };
  if (typeof sql === "string" && sql !== "") return sql;
  const text = content.map((block) => block.text ?? "").join("\n");
  return /```sql\s*\n([\s\S]*?)```/.exec(text)?.[1]?.trim() ?? null;
}

/** A failed attempt of `generate_sql`. */
export interface Attempt {
  readonly sql: string;
  readonly error: string;
}

/** The attempts that an answer lists. */
export function attemptsOf({ structuredContent, _meta: meta }: ToolResult): Attempt[] {
  const { attempts: own, error } = (structuredContent ?? {}) as {
    attempts?: unknown;
    error?: { details?: { attempts?: unknown }; attempts?: unknown };
  };
  const list = [own, error?.attempts, error?.details?.attempts, meta?.attempts].find(Array.isArray);
  return (list ?? []).map((attempt: { sql?: unknown; error?: unknown }) => ({
    sql: typeof attempt?.sql === "string" ? attempt.sql : "",
    error: typeof attempt?.error === "string"
      ? attempt.error
      : JSON.stringify(attempt?.error ?? ""),
  }));
}
