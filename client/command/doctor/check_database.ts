import type { Database } from "../connect.ts";
import type { Manifest } from "../project/manifest.ts";
import { privateSchema } from "../release/fill_names.ts";
import type { Release } from "../release/release.ts";
import { type Check, nothingIn } from "./check.ts";

const EXTENSIONS = ["pgmq", "pg_net", "pg_cron", "supabase_vault", "vector"];
/** The job that finds what every wake has missed; it runs each 15 seconds. */
const TICK = "supaswarm-tick";
const MAX_TICK_AGE_SECONDS = 300;
const MAX_WAIT_SECONDS = 120;

/** Checks an installation's database. The first failed check may hide others. */
export async function checkDatabase(
  sql: Database,
  manifest: Manifest,
  release: Release,
): Promise<Check[]> {
  const { schema } = manifest;
  const inner = privateSchema(schema);
  const version = await checkVersion(sql, manifest);
  if (version.problem !== null) return [version];
  return [
    version,
    await checkExtensions(sql),
    ...await checkCron(sql, release),
    ...await checkWakes(sql, inner),
    await checkQueue(sql, schema),
    await checkRealtime(sql, release),
    await checkModelKeys(sql, schema),
    await checkToolScopes(sql, schema),
  ];
}

async function checkVersion(sql: Database, { schema, version }: Manifest): Promise<Check> {
  const claim = `The database has release ${version} in schema ${schema}`;
  const [row] = await sql`
    select to_regprocedure(${`${privateSchema(schema)}.schema_version()`}) is not null as exists`;
  if (row?.exists !== true) {
    return { claim, problem: "it has none", remedy: "Run npx supabase db push." };
  }
  const [found] = await sql`select ${sql(privateSchema(schema))}.schema_version() as version`;
  return {
    claim,
    problem: found?.version === version ? null : `it has ${found?.version}`,
    remedy: "Run npx supaswarm upgrade and npx supabase db push, then deploy the functions.",
  };
}

async function checkExtensions(sql: Database): Promise<Check> {
  const rows = await sql<{ name: string }[]>`
    select wanted.name from unnest(${EXTENSIONS}::text[]) as wanted (name)
    where wanted.name not in (select extname from pg_catalog.pg_extension)`;
  return nothingIn(
    "Its extensions are installed",
    rows.map(({ name }) => `${name} is missing`),
    "Enable them under Database, Extensions in the dashboard.",
  );
}

async function checkCron(sql: Database, { objects }: Release): Promise<Check[]> {
  const jobs = await sql<{ jobname: string }[]>`
    select jobname from cron.job where active and jobname = any (${[...objects.cronJobs]})`;
  const active = new Set(jobs.map(({ jobname }) => jobname));
  const [last] = await sql<{ age: number | null }[]>`
    select extract(epoch from now() - max(run.start_time))::float as age
    from cron.job_run_details as run join cron.job using (jobid) where jobname = ${TICK}`;
  const age = last?.age ?? null;
  return [
    nothingIn(
      "All cron jobs are active",
      objects.cronJobs.filter((name) => !active.has(name)),
      "Activate them with cron.alter_job(), or install again.",
    ),
    {
      claim: "Cron runs on time",
      problem: age !== null && age <= MAX_TICK_AGE_SECONDS
        ? null
        : `${TICK} ${age === null ? "has never run" : `ran ${Math.round(age)} s ago`}`,
      remedy: age === null
        ? "Its first run comes 15 seconds after the migration: check again then."
        : "Look into cron.job_run_details, and restart the project if pg_cron has stopped.",
    },
  ];
}

async function checkWakes(sql: Database, inner: string): Promise<Check[]> {
  const [setting] = await sql`select value from ${sql(inner)}.settings where key = 'project_url'`;
  const [answer] = await sql<{ status_code: number | null; error_msg: string | null }[]>`
    select status_code, error_msg from net._http_response order by created desc limit 1`;
  const failed = answer !== undefined && !(answer.status_code !== null && answer.status_code < 300);
  return [
    {
      claim: "The database knows the project's address",
      problem: setting === undefined ? "no function has announced it" : null,
      remedy: "Deploy the functions and create one task; that announces the address.",
    },
    {
      claim: "The last request of the database to a function succeeded",
      problem: failed ? `${answer.status_code ?? ""} ${answer.error_msg ?? ""}`.trim() : null,
      remedy:
        "401: deploy with verify_jwt = false. 404: deploy the functions. 500: read their logs.",
    },
  ];
}

async function checkQueue(sql: Database, schema: string): Promise<Check> {
  const [row] = await sql<{ waited: number; workers: number }[]>`
    select max(oldest_wait_seconds)::float as waited, max(live_worker_count)::int as workers
    from ${sql(schema)}.queue_health`;
  const waited = row?.waited ?? 0;
  return {
    claim: "No task waits long for a worker",
    problem: waited <= MAX_WAIT_SECONDS
      ? null
      : `one waits for ${Math.round(waited)} s, and ${row?.workers ?? 0} workers run`,
    remedy: "Read the log of supaswarm-worker; stuck_tasks names each task and the reason.",
  };
}

async function checkRealtime(sql: Database, { objects }: Release): Promise<Check> {
  const wanted = objects.policies.map(({ name }) => name);
  const rows = await sql<{ name: string }[]>`
    select wanted.name from unnest(${wanted}::text[]) as wanted (name)
    where wanted.name not in (select polname from pg_catalog.pg_policy)`;
  return nothingIn(
    "The policies of Realtime and Storage exist",
    rows.map(({ name }) => `"${name}"`),
    "Create them again from the release's migration.",
  );
}

async function checkModelKeys(sql: Database, schema: string): Promise<Check> {
  const rows = await sql<{ slug: string; secret: string }[]>`
    select agent.slug, provider.api_key_secret_name as secret
    from ${sql(schema)}.agents as agent
    join ${sql(schema)}.llm_providers as provider on provider.id = agent.provider_id
    where agent.is_active and provider.requires_api_key
      and not exists (select from vault.secrets where name = provider.api_key_secret_name)
    order by 1`;
  return nothingIn(
    "Every agent's provider has its key in Vault",
    rows.map(({ slug, secret }) => `${slug} needs ${secret}`),
    "Store it: select vault.create_secret('<key>', '<name>'). Users with keys of their own do not need it.",
  );
}

async function checkToolScopes(sql: Database, schema: string): Promise<Check> {
  const rows = await sql<{ agent: string; tool: string }[]>`
    select agent.slug as agent, tool.slug as tool
    from ${sql(schema)}.agent_tools as link
    join ${sql(schema)}.agents as agent on agent.id = link.agent_id and agent.is_active
    join ${
    sql(schema)
  }.tools as tool on tool.id = link.tool_id and tool.is_active and tool.type <> 'internal'
    where not exists (
      select from ${sql(schema)}.mcp_grants as held where 'mcp:' || tool.slug = any (held.scopes)
    )
    order by 1, 2`;
  return nothingIn(
    "Somebody may use each external tool of the agents",
    rows.map(({ agent, tool }) => `${agent} has ${tool}, and nobody has the scope mcp:${tool}`),
    "Add the scope: select grant_scopes(<user>, array['mcp:<tool>']).",
  );
}
