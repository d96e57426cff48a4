import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { addAgent, addTool } from "../e2e/operator.ts";
import { type CallWorld, SYNCED_PROJECT_ID } from "./access_rules.ts";

const AGENT = "matrix";
const TOOL = "matrix-tool";
const PROVIDER = "openai";

/** Adds at least one row of the owner, or of the registry, to every table of `public`. */
export async function fillEveryTable(sql: Sql, ownerId: string): Promise<CallWorld> {
  const toolId = await addTool(sql, {
    slug: TOOL,
    type: "http_api",
    config: { method: "GET", url: "https://tools.example", parameters: { type: "object" } },
    secret: { name: "MATRIX_TOOL_KEY", value: "the tool's own" },
  });
  await addAgent(sql, { slug: AGENT, tools: [{ id: toolId }] });
  await addNamedAgent(sql, { ownerId, toolId });
  await sql`
    insert into public.tool_credential_audience (tool_id, user_id) values (${toolId}, ${ownerId})`;
  // Of no server, so that nothing here waits.
  await sql`insert into private.pauses (kind, name, reason) values ('server', 'none', 'A test')`;
  const tasks = taskFactories(sql, ownerId);
  await sql`
    insert into public.schedules (created_by, agent, input, cron)
    values (${ownerId}, ${AGENT}, '"Write it"', '@daily')`;
  const webhook = await addWebhook(sql, { ownerId, taskId: await tasks.waitingTask() });
  await addTaskRows(sql, { ownerId, taskId: await tasks.taskInReview() });
  const connectionId = await addToolRows(sql, { ownerId, toolId });
  await addRegistryRows(sql, { ownerId, toolId });
  await addSyncRows(sql, ownerId);
  await addCatalogRows(sql, ownerId);
  await tasks.waitingStatement();
  await tasks.deadLetter();
  await addOperatorRows(sql, { ownerId, connectionId, taskId: await tasks.waitingTask() });
  await addEvalRows(sql, { ownerId, taskId: await tasks.waitingTask() });
  const agentId = await idOf(sql, AGENT);
  const names = { agentSlug: AGENT, toolSlug: TOOL, providerName: PROVIDER };
  return { agentId, connectionId, ...names, webhook, ...tasks };
}

/** An agent for the owner only, to which the other agent may hand off. */
async function addNamedAgent(
  sql: Sql,
  { ownerId, toolId }: { readonly ownerId: string; readonly toolId: string },
): Promise<void> {
  await addAgent(sql, { slug: "matrix-named", tools: [{ id: toolId }] });
  await sql`
    with named as (
      update public.agents set audience = 'named' where slug = 'matrix-named' returning id
    ),
    skill as (
      insert into public.skills (skill_id, name, description, instructions)
      values ('matrix-skill', 'matrix-skill', 'For the owner', 'Secret steps') returning id
    ),
    given as (
      insert into public.agent_skills (agent_id, skill_id) select named.id, skill.id from named, skill
    ),
    fallback as (
      insert into public.agent_fallbacks (agent_id, provider_id)
      select named.id, provider.id from named, public.llm_providers as provider limit 1
    ),
    guardrail as (
      insert into public.agent_guardrails (agent_id, stage, tool_id, tool_name)
      select named.id, 'input', tool.id, 'check' from named, public.tools as tool limit 1
    ),
    approval as (
      insert into public.agent_approvals (agent_id, tool_name, user_id, ask)
      select named.id, '*', null::uuid, 'always' from named
      union all
      select agent.id, 'web_search', ${ownerId}::uuid, 'never'
      from public.agents as agent where agent.slug = ${AGENT}
    ),
    handoff as (
      insert into public.agent_handoffs (agent_id, target_agent_id)
      select agent.id, named.id from named, public.agents as agent where agent.slug = ${AGENT}
    )
    insert into public.agent_audience (agent_id, user_id) select id, ${ownerId}::uuid from named`;
}

function taskFactories(sql: Sql, ownerId: string) {
  const waitingTask = async () => {
    const [task] = await sql<{ task_id: string }[]>`
      select task_id from private.create_task(${AGENT}, '{}', ${ownerId},
        p_run_after => now() + interval '300 days')`;
    if (task === undefined) throw new Error("No task was created");
    return task.task_id;
  };
  const taskInReview = async () => {
    const taskId = await waitingTask();
    await sql`
      insert into public.human_reviews (task_id, seq, question) values (${taskId}, 1, 'May I?')`;
    await sql`update public.tasks set status = 'needs_human_review' where id = ${taskId}`;
    return taskId;
  };
  const answeredTask = async () => {
    const taskId = await waitingTask();
    await sql`
      insert into public.human_reviews (task_id, seq, question, approved, answered_at, answered_epoch)
      values (${taskId}, 1, 'May I?', true, now(), 0)`;
    return taskId;
  };
  const failedTask = async () => {
    const taskId = await waitingTask();
    await sql`
      update public.tasks set status = 'failed', error = '{}', finished_at = now()
      where id = ${taskId}`;
    return taskId;
  };
  const deadLetter = async () => {
    const [letter] = await sql<{ id: string }[]>`
      insert into private.dead_letters (task_id, reason, error)
      values (${await failedTask()}, 'attempts_exhausted', '{}') returning id`;
    return Number(letter?.id);
  };
  const waitingStatement = async () => {
    const [row] = await sql<{ id: string }[]>`
      insert into public.sql_confirmations (
        token_hash, user_id, client_id, tree_hash, params_hash, statement_class, statement, tables,
        policy_version, max_rows, needs_approval, expires_at
      )
      values (
        decode(md5(random()::text), 'hex'), ${ownerId}, '', '\\x00', '\\x00', 'write',
        'delete from public.notes', '{public.notes}', 1, 1, true, now() + interval '1 day'
      )
      returning id`;
    if (row === undefined) throw new Error("No statement waits for approval");
    return row.id;
  };
  return { waitingTask, taskInReview, answeredTask, failedTask, deadLetter, waitingStatement };
}

/** No task of the fixture emits its event, so this is the only message. */
async function addWebhook(
  sql: Sql,
  { ownerId, taskId }: { readonly ownerId: string; readonly taskId: string },
): Promise<CallWorld["webhook"]> {
  const [row] = await sql<{ id: string; messageId: string }[]>`
    with webhook as (
      insert into public.webhooks (created_by, url, events)
      values (${ownerId}, 'https://hooks.example/in', '{task.retried}') returning id
    )
    insert into public.webhook_messages (webhook_id, task_id, type, payload, status, error, finished_at)
    select id, ${taskId}, 'task.retried', '{}', 'failed', '{}', now() from webhook
    returning webhook_id as id, id as "messageId"`;
  if (row === undefined) throw new Error("No webhook was added");
  return row;
}

async function idOf(sql: Sql, slug: string): Promise<string> {
  const [agent] = await sql<{ id: string }[]>`select id from public.agents where slug = ${slug}`;
  if (agent === undefined) throw new Error(`Agent ${slug} not found`);
  return agent.id;
}

async function addTaskRows(
  sql: Sql,
  { ownerId, taskId }: { readonly ownerId: string; readonly taskId: string },
): Promise<void> {
  await sql`
    insert into public.task_steps (task_id, seq, kind, state, epoch)
    values (${taskId}, 1, 'system', 'started', 1)`;
  await sql`
    insert into public.task_signals (task_id, name, data, sent_by, sent_as)
    values (${taskId}, 'go', '{}', ${ownerId}, 'user')`;
  await sql`
    insert into public.usage_events (user_id, task_id, model, key_source, input_tokens, output_tokens)
    values (${ownerId}, ${taskId}, 'model', 'none', 1, 1)`;
  await sql`
    insert into public.usage_days (
      day, user_id, model, key_source, call_count, task_count, input_tokens, cached_input_tokens, output_tokens,
      unpriced_call_count
    )
    values ('2026-01-01', ${ownerId}, 'model', 'none', 1, 1, 1, 0, 1, 1)`;
}

async function addSyncRows(sql: Sql, ownerId: string): Promise<void> {
  await sql`
    with project as (
      insert into public.projects (id, slug, github_repo)
      values (${SYNCED_PROJECT_ID}, 'matrix-sync', 'matrix/sync')
      returning id
    ),
    member as (
      insert into public.project_members (project_id, user_id) select id, ${ownerId} from project
    ),
    document as (
      insert into public.documents (project_id, file_path, title, content, checksum)
      select id, 'install.md', 'Install', 'How to install it', 'checksum' from project
      returning id, project_id
    ),
    chunk as (
      insert into public.document_embeddings (document_id, project_id, content_chunk, chunk_hash, embedder)
      select id, project_id, 'How to install it', 'hash', 'hash768@1' from document
    ),
    move as (
      insert into public.document_moves (project_id, document_id, old_path, new_path)
      select project_id, id, 'setup.md', 'install.md' from document
    ),
    sync as (
      insert into public.quoth_syncs (project_id, kind, reason, status, finished_at)
      select id, 'tree', 'push', 'completed', now() from project
    )
    insert into public.quoth_file_errors (project_id, file_path, error)
    select id, 'binary.md', '{"code": "FILE_NOT_TEXT"}' from project`;
}

/** Adds two rulesets: the owner's and a shared one. */
async function addCatalogRows(sql: Sql, ownerId: string): Promise<void> {
  await sql`
    with conversation as (
      insert into public.conversations (user_id, title, message_count)
      values (${ownerId}, 'Matrix', 1) returning id
    ),
    message as (
      insert into public.messages (conversation_id, seq, role, content)
      select id, 1, 'user', 'Hello' from conversation
    ),
    event as (
      insert into public.auth_events (user_id, event) values (${ownerId}, 'SIGNED_IN')
    ),
    ruleset as (
      insert into public.rulesets (owner, name, version)
      select whose, 'Matrix', 1 from unnest(array[${ownerId}::uuid, null]) as whose
      returning id, name
    )
    insert into public.ruleset_versions (ruleset_id, version, name, content)
    select id, 1, name, '{}' from ruleset`;
}

async function addToolRows(
  sql: Sql,
  { ownerId, toolId }: { readonly ownerId: string; readonly toolId: string },
): Promise<string> {
  await sql`insert into public.sessions (user_id) values (${ownerId})`;
  const [connection] = await sql<{ id: string }[]>`
    with connection as (
      insert into public.agent_mcp_connections (tool_id, user_id, config_hash)
      values (${toolId}, ${ownerId}, 'hash') returning id
    )
    insert into public.mcp_tools_cache (connection_id, tool_name, tool_schema, openai_schema)
    select id, 'tool', '{}', '{}' from connection returning connection_id as id`;
  await sql`
    with execution as (
      insert into public.mcp_executions
        (mcp_name, tool_name, tool_id, user_id, execution_time_ms, status, error_message)
      values ('http', 'tool', ${toolId}, ${ownerId}, 1, 'error', 'It failed')
      returning id, feedback_token, user_id
    ), failure as (
      insert into public.mcp_failures (execution_id, error_type)
      select id, 'tool_error' from execution
    )
    insert into public.mcp_feedback (execution_id, feedback_token, user_id, rating)
    select id, feedback_token, user_id, 'down' from execution`;
  if (connection === undefined) throw new Error("No connection was created");
  return connection.id;
}

/** A worker, a task without progress, a definition awaiting approval, and an operator's action. */
async function addEvalRows(
  sql: Sql,
  { ownerId, taskId }: { readonly ownerId: string; readonly taskId: string },
): Promise<void> {
  const result = { test: "writes", repeat: 1, task_id: taskId, passed: true, score: 1 };
  await sql`
    select private.record_eval_result(
      p_run_id => run.id, p_result => ${sql.json({ ...result, assertions: [] })}
    )
    from private.begin_eval_run(p_agent => ${AGENT}, p_user_id => ${ownerId}) as run`;
}

async function addOperatorRows(
  sql: Sql,
  { ownerId, connectionId, taskId }: {
    readonly ownerId: string;
    readonly connectionId: string;
    readonly taskId: string;
  },
): Promise<void> {
  await sql`insert into private.workers (id) values ('matrix-worker')`;
  await sql`
    with silent as (
      update private.task_events set at = now() - interval '1 hour' where task_id = ${taskId}
    )
    update public.tasks
    set status = 'running', worker_id = 'matrix-worker',
      lease_expires_at = now() + interval '1 day', started_at = now() - interval '1 hour'
    where id = ${taskId}`;
  await sql`
    insert into public.mcp_tools_cache
      (connection_id, tool_name, tool_schema, openai_schema, state, held_definition)
    values (${connectionId}, 'waiting', '{}', '{}', 'pending', '{"hash": "hash", "schema": {}}')`;
  await sql`
    select private.record_maintenance_failure('end_overdue_job', ${taskId}, '23514', 'a row is broken')`;
  await sql`insert into public.alerts (name, measure, above) values ('matrix', 'cost_usd', 5)`;
  await sql`
    insert into private.operator_acts (act, owner_id, master_task_id)
    values ('job.cancelled', ${ownerId}, ${taskId})`;
  await sql`
    with webhook as (
      insert into public.webhooks (created_by, name, url, events)
      values (null, 'matrix', 'https://hooks.example/in', '{task.retried}') returning id
    )
    insert into public.webhook_messages (webhook_id, type, payload, status, finished_at)
    select id, 'task.retried', '{}', 'delivered', now() from webhook`;
  await sql`create schema matrix create table orders (id int primary key)`;
  await sql`
    insert into public.row_triggers (name, table_name, events, agent)
    values ('matrix', 'matrix.orders', '{insert}', ${AGENT})`;
  await sql`
    insert into private.row_starts (trigger_id, event, owner_key, is_debounced, due_at, error)
    select id, 'insert', ${ownerId}, false, now(), '{"code": "FORBIDDEN"}'
    from public.row_triggers where name = 'matrix'`;
}

/** Rules that name a user exist twice: for the owner and for everyone. */
async function addRegistryRows(
  sql: Sql,
  { ownerId, toolId }: { readonly ownerId: string; readonly toolId: string },
): Promise<void> {
  await sql`insert into public.mcp_grants (user_id) values (${ownerId})`;
  await sql`
    insert into public.mcp_policies (mcp_name, user_id) values (${TOOL}, ${ownerId}), (${TOOL}, null)`;
  await sql`
    insert into public.user_tool_credentials (user_id, tool_id, vault_secret_name)
    values (${ownerId}, ${toolId}, 'name')`;
  await sql`
    with provider as (
        select id, default_model from public.llm_providers where name = ${PROVIDER}
      ),
      own_key as (
        insert into public.user_provider_keys (user_id, provider_id, vault_secret_name)
        select ${ownerId}, id, 'name' from provider
      ),
      price as (
        insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok,
          cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok, retires_on)
        select id, default_model, 1, 1, 1, current_date from provider
      )
    insert into public.model_policies (user_id, provider_id, spending_cap_micro_usd)
    select whose, id, 1000000 from provider, unnest(array[${ownerId}::uuid, null]) as whose`;
}
