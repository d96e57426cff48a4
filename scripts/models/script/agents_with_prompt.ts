import type { Sql } from "../../../shared/platform/db/sql_client.ts";

/**
 * Finds the agents to which a request belongs: those whose prompt, of any revision, begins its
 * system prompt. Several only if their prompts are equal.
 *
 * @returns Their slugs, in order.
 */
export async function agentsWithPrompt(sql: Sql, system: string): Promise<readonly string[]> {
  const rows = await sql<{ slug: string }[]>`
    with prompts as (
      select agent.slug, regexp_replace(revision.definition ->> 'prompt', '^\\s+|\\s+$', '', 'g') as prompt
      from public.agent_revisions as revision
      join public.agents as agent on agent.id = revision.agent_id
    )
    select distinct slug
    from prompts
    where starts_with(${system}, prompt) and length(prompt) = (
      select max(length(longest.prompt)) from prompts as longest where starts_with(${system}, longest.prompt)
    )
    order by slug`;
  return rows.map(({ slug }) => slug);
}
