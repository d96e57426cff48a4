import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { inlineText } from "../../shared/platform/values/markdown_text.ts";
import type { ContextFile } from "../../shared/servers/sql/context/context_file.ts";
import { proposeFix } from "../../shared/servers/sql/context/propose_fix.ts";
import type { ErrorFix, QueryPattern } from "../../shared/servers/sql/context/sql_context.ts";
import { stripConstants } from "../../shared/servers/sql/context/strip_constants.ts";

/** Patterns and fixes from calls that the file does not have yet. */
export interface Proposals {
  readonly patterns: readonly QueryPattern[];
  readonly fixes: readonly ErrorFix[];
}

interface GradedCall {
  readonly question: string | null;
  readonly sql: string;
}

interface FixedCall {
  readonly failed_sql: string;
  readonly error: string;
  readonly fixed_sql: string;
}

const MAX_TITLE_CHARACTERS = 80;

/** Maximum time between a failure and its fix. */
const FIXED_WITHIN = "1 hour";

/**
 * Reads proposals from the calls of the last days: the statements of calls that were graded up or
 * with at least 4, and not down, and the failures that the same user's next successful call fixed.
 * Omits what the file already has, and every constant.
 */
export async function readProposals(
  sql: Sql,
  { days, known }: { readonly days: number; readonly known: ContextFile },
): Promise<Proposals> {
  const [graded, fixed] = await Promise.all([readGraded(sql, days), readFixed(sql, days)]);
  return {
    patterns: await toPatterns(graded, known),
    fixes: await toFixes(fixed, known),
  };
}

async function readGraded(sql: Sql, days: number): Promise<readonly GradedCall[]> {
  return await sql<GradedCall[]>`
    select execution.request_data ->> 'prompt' as question,
      coalesce(response.data ->> 'sql', execution.request_data ->> 'sql') as sql
    from public.mcp_executions as execution
    cross join lateral (select private.response_of_call(execution) as data offset 0) as response
    where execution.mcp_name = 'supabase' and execution.tool_name in ('generate_sql', 'execute_sql')
      and execution.status = 'success'
      and execution.created_at > now() - make_interval(days => ${days})
      and coalesce(response.data ->> 'sql', execution.request_data ->> 'sql') is not null
      and exists (
        select from public.mcp_feedback as grade
        where grade.execution_id = execution.id and (grade.rating = 'up' or grade.rating_score >= 4))
      and not exists (
        select from public.mcp_feedback as grade
        where grade.execution_id = execution.id and (grade.rating = 'down' or grade.rating_score < 4))
    order by execution.created_at`;
}

/** Reads fixed failures of single calls, and of the attempts within one call of generate_sql. */
async function readFixed(sql: Sql, days: number): Promise<readonly FixedCall[]> {
  return await sql<FixedCall[]>`
    with calls as (
      select execution.*, response.data as response,
        coalesce(response.data ->> 'sql', execution.request_data ->> 'sql') as statement,
        failure.error_details ->> 'message' as failure_message
      from public.mcp_executions as execution
      cross join lateral (select private.response_of_call(execution) as data offset 0) as response
      left join public.mcp_failures as failure
        on failure.execution_id = execution.id and failure.error_type = 'sql_error'
      where execution.mcp_name = 'supabase' and execution.tool_name in ('generate_sql', 'execute_sql')
        and execution.created_at > now() - make_interval(days => ${days})
    ), between_calls as (
      select failed.statement as failed_sql, failed.failure_message as error, fixed.statement as fixed_sql,
        failed.created_at
      from calls as failed
      cross join lateral (
        select later.*
        from calls as later
        where later.tool_name = failed.tool_name and later.user_id = failed.user_id
          and later.created_at > failed.created_at
          and later.created_at < failed.created_at + ${FIXED_WITHIN}::interval
        order by later.created_at
        limit 1
      ) as fixed
      where failed.failure_message is not null and fixed.status = 'success'
    ), within_calls as (
      select attempt.value ->> 'sql' as failed_sql, attempt.value ->> 'error' as error,
        calls.statement as fixed_sql, calls.created_at
      from calls
      cross join lateral jsonb_array_elements(
        case when jsonb_typeof(calls.response -> 'attempts') = 'array'
          then calls.response -> 'attempts' else '[]' end
      ) with ordinality as attempt (value, place)
      where calls.status = 'success'
        and (attempt.value ->> 'attempt')::int = jsonb_array_length(calls.response -> 'attempts') - 1
    )
    select failed_sql, error, fixed_sql
    from (select * from between_calls union all select * from within_calls) as every
    where failed_sql is not null and error is not null and fixed_sql is not null
    order by created_at`;
}

async function toPatterns(
  calls: readonly GradedCall[],
  known: ContextFile,
): Promise<QueryPattern[]> {
  const seen = new Set<string>();
  for (const { sql } of known.patterns) seen.add(spaceless(await stripConstants(sql) ?? sql));
  const patterns: QueryPattern[] = [];
  for (const { question, sql } of calls) {
    const stripped = await stripConstants(sql);
    if (stripped === null || seen.has(spaceless(stripped))) continue;
    seen.add(spaceless(stripped));
    const asked = question?.trim() ?? "";
    patterns.push({
      title: inlineText(asked.slice(0, MAX_TITLE_CHARACTERS)) || "A query that was graded up",
      text: asked.length > MAX_TITLE_CHARACTERS ? inlineText(asked) : "",
      sql: stripped,
    });
  }
  return patterns;
}

async function toFixes(calls: readonly FixedCall[], known: ContextFile): Promise<ErrorFix[]> {
  const seen = new Set(known.fixes.map(({ error }) => error));
  const fixes: ErrorFix[] = [];
  for (const { failed_sql: failedSql, error, fixed_sql: fixedSql } of calls) {
    const fix = await proposeFix({ failedSql, error, fixedSql });
    if (fix === null || seen.has(fix.error)) continue;
    seen.add(fix.error);
    fixes.push(fix);
  }
  return fixes;
}

function spaceless(sql: string): string {
  return sql.replace(/\s+/g, "").toLowerCase();
}
