/** `deno task agents`: shows the revisions of agents, and rolls an agent back. */
import type { Sql } from "../shared/platform/db/sql_client.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { formatTable } from "./sql/format_table.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

const ACTIONS = ["list", "revisions", "rollback"] as const;

await runCommand({
  name: "deno task agents",
  summary:
    "list: the agents and their newest revisions. revisions <slug>: those of one agent. rollback " +
    "<slug> [revision]: makes an earlier revision, by default the one before, the newest.",
  positionals: "list|revisions|rollback [slug] [revision]",
  options: {
    by: { type: "string", placeholder: "NAME", help: "Who rolls back. Default: USER." },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values, positionals: [action = "list", slug, revision, ...others] }) => {
  if (!ACTIONS.some((known) => known === action) || others.length > 0) {
    throw new CommandError(
      `Cannot run "${action}": write one of ${ACTIONS.join(", ")}, then a slug`,
    );
  }
  if (action !== "list" && slug === undefined) {
    throw new CommandError(`Cannot run "${action}": name an agent, such as ${action} writer`);
  }
  if (revision !== undefined && !/^[1-9]\d{0,8}$/.test(revision)) {
    throw new CommandError(`Cannot roll back to "${revision}": write the number of a revision`);
  }
  const environment = await readEnvironment(PROJECT_ROOT);
  const url = await findDatabaseUrl(values.db, environment);
  const print = (rows: readonly Record<string, unknown>[]) =>
    writeLine(values.json ? JSON.stringify(rows) : formatTable([...rows]));
  await usePlatform(url, { applicationName: "supaswarm agents" }, async (sql) => {
    if (action === "rollback") {
      const by = values.by ?? environment["USER"] ?? "unknown";
      const newest = await rollBack(sql, String(slug), revision ?? null, by);
      return writeLine(
        values.json
          ? JSON.stringify({ slug, revision: newest })
          : `${slug} is as it was; its newest revision is ${newest}. Jobs that run keep theirs. Run pull ${slug}: the next push of the file undoes this.`,
      );
    }
    print(await (action === "list" ? listAgents(sql) : listRevisions(sql, String(slug))));
  });
});

async function rollBack(sql: Sql, slug: string, revision: string | null, by: string) {
  const [row] = await sql`
    select private.rollback_agent(
      p_slug => ${slug}, p_revision => ${revision}::int, p_author => ${by}
    ) as revision`;
  return Number(row?.revision);
}

async function listAgents(sql: Sql) {
  return await sql`
    select agent.slug as agent, agent.revision, left(kept.content_hash, 12) as content, kept.author,
      to_char(kept.created_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as at
    from public.agents as agent
    left join public.agent_revisions as kept
      on kept.agent_id = agent.id and kept.revision = agent.revision
    order by agent.slug`;
}

async function listRevisions(sql: Sql, slug: string) {
  const [agent] = await sql`
    select private.id_of(p_kind => 'agent', p_slug => ${slug}, p_attempt => 'list the revisions') as id`;
  return await sql`
    select kept.revision, kept.revision = agent.revision as is_newest,
      left(kept.content_hash, 12) as content, kept.author,
      to_char(kept.created_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as at,
      (select count(*)::int from public.tasks as task
        where task.agent_id = agent.id and task.agent_revision = kept.revision) as tasks
    from public.agent_revisions as kept
    join public.agents as agent on agent.id = kept.agent_id
    where kept.agent_id = ${String(agent?.id)}::uuid
    order by kept.revision desc`;
}
