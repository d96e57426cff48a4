import type { JsonObject } from "../../shared/platform/values/json.ts";

/**
 * The rules of the access matrix: who may do what with each table, view and function of `public`.
 * `access_matrix_test.ts` reads the catalog and fails for every object without a rule.
 */

/**
 * The actors in the matrix. Each is a real client of the REST API: the agent's requests carry the
 * owner's token and are marked as an agent's, the OAuth client's token has one scope, and
 * the operator is a user without rows who has the scope `swarm:operate`.
 */
export const ACTORS = [
  "owner",
  "stranger",
  "anon",
  "service",
  "agent",
  "client",
  "operator",
] as const;
export type Actor = typeof ACTORS[number];

/** The only scope of the matrix's OAuth client. */
export const CLIENT_SCOPE = "quoth:read";

/** PostgREST's code for the error that an operator view raises for other users. */
export const NO_OPERATOR = "PT403";

/** Postgres's code for a missing privilege, which PostgREST passes on. */
export const NO_RIGHT = "42501";

type Scope =
  | `${"quoth" | "sql" | "chat" | "ruleset"}:read`
  | "swarm:run"
  | "credentials:write";

/**
 * Access to a table or view. One rule is fixed: the publishable key by itself reads and writes
 * nothing.
 */
export interface TableRule {
  /**
   * A SQL condition for the rows that a signed-in user reads, with the user's id as `$1`; `true`
   * for rows of everyone, `null` for rows of no one.
   */
  readonly usersRead: string | null;
  /** Operators read it, and other users are refused because they lack the scope. @default false */
  readonly isOfOperators?: boolean;
  /**
   * The scope that an OAuth client needs to read rows of its user. @default none, for registry
   * tables
   */
  readonly scope?: Scope;
  /** Columns that no user reads. @default none */
  readonly hidden?: readonly string[];
  /** What the secret key may do; it reads every row. */
  readonly service: "reads" | "writes";
  /**
   * A column that signed-in users write in their own rows; agents, and OAuth clients without the
   * scope, get the stable code of a refusal. @default they write nothing
   */
  readonly usersWrite?: string;
}

/** Agents whose audience includes the user. */
const USABLE_AGENTS = `select id from public.agents where audience = 'everyone'
  union all select agent_id from public.agent_audience where user_id = $1`;

const REGISTRY = { usersRead: "true", service: "writes" } as const;
const OPERATORS_VIEW = { usersRead: null, service: "reads" } as const;
const OPERATORS_OWN_VIEW = { usersRead: null, isOfOperators: true, service: "reads" } as const;

/** Rows that a user reads, and that their OAuth clients read with a scope. */
function owned(usersRead: string, scope: Scope, service: TableRule["service"]) {
  return { usersRead, scope, service } as const;
}

const OF_USABLE_AGENT = { usersRead: `agent_id in (${USABLE_AGENTS})`, service: "writes" } as const;
const OF_AUDIENCE = { usersRead: "user_id = $1", service: "writes" } as const;
const OF_USER_OR_ALL = { usersRead: "user_id = $1 or user_id is null", service: "writes" } as const;
const OF_OWN_TASK = owned(
  "task_id in (select id from public.tasks where created_by = $1)",
  "swarm:run",
  "reads",
);
const OF_OWN_EXECUTION =
  "execution_id in (select id from public.mcp_executions where user_id = $1)";
/** A project whose only member is the owner. */
export const SYNCED_PROJECT_ID = "5c4edeed-0000-4000-8000-000000000001";

const OF_OWN_PROJECT = owned(
  "project_id in (select project_id from public.project_members where user_id = $1)",
  "quoth:read",
  "reads",
);

/** Aggregates over the reader's own tool calls. */
const OF_OWN_CALLS = owned(
  "tool_name in (select tool_name from public.mcp_executions where user_id = $1)",
  "swarm:run",
  "reads",
);

export const TABLE_RULES: Readonly<Record<string, TableRule>> = {
  agents: {
    usersRead: `id in (${USABLE_AGENTS})`,
    hidden: ["system_prompt"],
    service: "writes",
  },
  agent_audience: OF_AUDIENCE,
  agent_guardrails: OF_USABLE_AGENT,
  agent_approvals: {
    usersRead: `(user_id is null or user_id = $1) and agent_id in (${USABLE_AGENTS})`,
    service: "writes",
  },
  agent_fallbacks: OF_USABLE_AGENT,
  agent_handoffs: {
    usersRead: `agent_id in (${USABLE_AGENTS}) and target_agent_id in (${USABLE_AGENTS})`,
    service: "writes",
  },
  agent_skills: OF_USABLE_AGENT,
  agent_revisions: OPERATORS_VIEW,
  agent_tools: OF_USABLE_AGENT,
  embedders: { ...REGISTRY, hidden: ["api_key_secret_name", "base_url"] },
  llm_providers: { ...REGISTRY, hidden: ["api_key_secret_name", "base_url"] },
  model_prices: REGISTRY,
  model_windows: REGISTRY,
  mcp_tool_models: REGISTRY,
  skills: {
    usersRead:
      `id in (select skill_id from public.agent_skills where agent_id in (${USABLE_AGENTS}))`,
    hidden: ["instructions", "metadata", "resources"],
    service: "writes",
  },
  tool_credential_audience: OF_AUDIENCE,
  tools: { ...REGISTRY, hidden: ["config", "credential_secret_name"] },

  tasks: owned("created_by = $1", "swarm:run", "reads"),
  schedules: { ...owned("created_by = $1", "swarm:run", "writes"), usersWrite: "agent" },
  webhooks: { ...owned("created_by = $1", "swarm:run", "writes"), usersWrite: "url" },
  alerts: { usersRead: null, service: "writes" },
  row_triggers: { usersRead: null, service: "writes" },
  webhook_messages: owned(
    "webhook_id in (select id from public.webhooks where created_by = $1)",
    "swarm:run",
    "reads",
  ),
  eval_runs: owned("created_by = $1", "swarm:run", "reads"),
  eval_results: owned(
    "run_id in (select id from public.eval_runs where created_by = $1)",
    "swarm:run",
    "reads",
  ),
  task_steps: OF_OWN_TASK,
  task_events: OF_OWN_TASK,
  task_signals: OF_OWN_TASK,
  human_reviews: OF_OWN_TASK,
  agent_usage: owned(
    "model in (select model from public.usage_events where user_id = $1)",
    "swarm:run",
    "reads",
  ),
  dead_letters: OPERATORS_VIEW,
  job_usage: owned("created_by = $1", "swarm:run", "reads"),
  oldest_snapshots: OPERATORS_VIEW,
  maintenance_failures: OPERATORS_VIEW,
  queue_health: OPERATORS_VIEW,
  paused_work: { usersRead: "true", service: "reads" },
  stuck_tasks: OPERATORS_VIEW,
  operator_acts: OPERATORS_OWN_VIEW,
  operator_alerts: OPERATORS_OWN_VIEW,
  operator_budgets: OPERATORS_OWN_VIEW,
  operator_agent_revisions: OPERATORS_OWN_VIEW,
  operator_configuration_problems: OPERATORS_OWN_VIEW,
  operator_dead_letters: OPERATORS_OWN_VIEW,
  operator_definitions: OPERATORS_OWN_VIEW,
  operator_grants: OPERATORS_OWN_VIEW,
  operator_installation_checks: OPERATORS_OWN_VIEW,
  operator_eval_runs: OPERATORS_OWN_VIEW,
  operator_maintenance_failures: OPERATORS_OWN_VIEW,
  operator_missing_scopes: OPERATORS_OWN_VIEW,
  operator_pulse: OPERATORS_OWN_VIEW,
  operator_queue_health: OPERATORS_OWN_VIEW,
  operator_releases: OPERATORS_OWN_VIEW,
  operator_scopes: OPERATORS_OWN_VIEW,
  operator_secrets: OPERATORS_OWN_VIEW,
  operator_setting_kinds: OPERATORS_OWN_VIEW,
  operator_settings: OPERATORS_OWN_VIEW,
  operator_webhook_messages: OPERATORS_OWN_VIEW,
  operator_retiring_models: OPERATORS_OWN_VIEW,
  operator_row_starts: OPERATORS_OWN_VIEW,
  operator_servers: OPERATORS_OWN_VIEW,
  operator_stuck_tasks: OPERATORS_OWN_VIEW,
  operator_table_sizes: OPERATORS_OWN_VIEW,
  operator_tool_definitions: OPERATORS_OWN_VIEW,
  operator_workers: OPERATORS_OWN_VIEW,
  usage_events: owned("user_id = $1", "swarm:run", "reads"),
  usage_days: owned("user_id = $1", "swarm:run", "reads"),
  tool_days: OPERATORS_VIEW,

  sql_confirmations: {
    ...owned("user_id = $1", "sql:read", "writes"),
    hidden: ["token_hash", "tree_hash", "params_hash", "idempotency_key", "answer"],
  },
  user_provider_keys: {
    ...owned("user_id = $1", "credentials:write", "writes"),
    hidden: ["vault_secret_name", "destination"],
  },
  user_tool_credentials: {
    ...owned("user_id = $1", "credentials:write", "writes"),
    hidden: ["vault_secret_name", "destination"],
  },
  model_policies: OF_USER_OR_ALL,
  mcp_policies: OF_USER_OR_ALL,
  mcp_grants: OF_USER_OR_ALL,

  projects: {
    ...owned(
      "id in (select project_id from public.project_members where user_id = $1)",
      "quoth:read",
      "writes",
    ),
    hidden: ["github_token_secret_name", "webhook_secret_name"],
  },
  project_members: owned("user_id = $1", "quoth:read", "writes"),
  documents: { ...OF_OWN_PROJECT, service: "writes" },
  document_embeddings: { ...OF_OWN_PROJECT, service: "writes" },
  document_moves: { ...OF_OWN_PROJECT, service: "writes" },
  quoth_syncs: OF_OWN_PROJECT,
  quoth_file_errors: OF_OWN_PROJECT,

  sessions: owned("user_id = $1", "swarm:run", "writes"),
  agent_mcp_connections: {
    ...owned("user_id = $1", "swarm:run", "writes"),
    hidden: [
      "config_hash",
      "discovery",
      "listing_error",
      "listing_started_at",
      "pin",
      "session",
      "was_listed",
      "prepared_by",
    ],
  },
  mcp_tools_cache: owned(
    "connection_id in (select id from public.agent_mcp_connections where user_id = $1)",
    "swarm:run",
    "writes",
  ),
  mcp_executions: owned("user_id = $1", "swarm:run", "writes"),
  mcp_failures: owned(OF_OWN_EXECUTION, "swarm:run", "writes"),
  mcp_feedback: owned("user_id = $1", "swarm:run", "reads"),
  tool_call_costs: owned(OF_OWN_EXECUTION, "swarm:run", "reads"),
  auth_events: owned("user_id = $1", "credentials:write", "writes"),
  conversations: owned("user_id = $1", "chat:read", "writes"),
  messages: owned(
    "conversation_id in (select id from public.conversations where user_id = $1)",
    "chat:read",
    "writes",
  ),
  rulesets: owned("owner = $1 or owner is null", "ruleset:read", "writes"),
  ruleset_versions: owned(
    "ruleset_id in (select id from public.rulesets where owner = $1 or owner is null)",
    "ruleset:read",
    "reads",
  ),

  tool_usage: OF_OWN_CALLS,
  agent_tool_usage: OF_OWN_CALLS,
};

/**
 * The values from which the arguments of a call are made; each task is new and belongs to the
 * owner.
 */
export interface CallWorld {
  readonly agentId: string;
  readonly agentSlug: string;
  /** The owner's connection to the tool. */
  readonly connectionId: string;
  readonly toolSlug: string;
  readonly providerName: string;
  /** A delayed master task. */
  waitingTask(): Promise<string>;
  /** A master task with an open review. */
  taskInReview(): Promise<string>;
  /** A master task whose agent has not read the answer of its owner. */
  answeredTask(): Promise<string>;
  failedTask(): Promise<string>;
  /** The dead letter of a failed task. */
  deadLetter(): Promise<number>;
  /** A write that waits for the owner's approval. */
  waitingStatement(): Promise<string>;
  /** The owner's webhook, with a failed message. */
  readonly webhook: { readonly id: string; readonly messageId: string };
}

/** Access to a function: `runs`, or the stable code (otherwise the SQLSTATE) of the refusal. */
export interface FunctionRule extends Readonly<Record<Exclude<Actor, "operator">, string>> {
  /** @default as for the stranger: an operator is another user, unless the rule differs */
  readonly operator?: string;
  readonly arguments: (world: CallWorld) => Promise<JsonObject> | JsonObject;
}

const OWNER_AND_SERVICE = {
  owner: "runs",
  stranger: "TASK_NOT_FOUND",
  anon: NO_RIGHT,
  service: "runs",
  agent: "AGENT_NOT_ALLOWED",
  client: "INSUFFICIENT_SCOPE",
} as const;
/** An operator opens the job first. */
const OWNER_AND_OPENER = {
  ...OWNER_AND_SERVICE,
  agent: "runs",
  operator: "JOB_NOT_OPENED",
} as const;
const OF_MEMBERS = {
  ...OWNER_AND_SERVICE,
  stranger: "PROJECT_NOT_FOUND",
  agent: "runs",
  client: "runs",
} as const;
/**
 * Functions for a user's own data; they take no user id, so a stranger affects only the stranger's.
 */
const EACH_USER = {
  owner: "runs",
  stranger: "runs",
  anon: NO_RIGHT,
  service: NO_RIGHT,
  agent: "AGENT_NOT_ALLOWED",
  client: "INSUFFICIENT_SCOPE",
} as const;
const OPERATORS_ALONE = {
  owner: "INSUFFICIENT_SCOPE",
  stranger: "INSUFFICIENT_SCOPE",
  anon: NO_RIGHT,
  service: "runs",
  agent: "AGENT_NOT_ALLOWED",
  client: "INSUFFICIENT_SCOPE",
  operator: "runs",
} as const;
/** For people with the scope swarm:configure, which operators do not have. */
const CONFIGURERS_ALONE = { ...OPERATORS_ALONE, operator: "INSUFFICIENT_SCOPE" } as const;
const OF_OPENERS = { ...OPERATORS_ALONE, operator: "JOB_NOT_OPENED" } as const;
const SERVICE_ALONE = {
  owner: NO_RIGHT,
  stranger: NO_RIGHT,
  anon: NO_RIGHT,
  service: "runs",
  agent: NO_RIGHT,
  client: NO_RIGHT,
} as const;

type MakeArguments = FunctionRule["arguments"];
const none: MakeArguments = () => ({});
const waitingJob: MakeArguments = async (world) => ({
  p_master_task_id: await world.waitingTask(),
});
const waitingTask: MakeArguments = async (world) => ({ p_task_id: await world.waitingTask() });
const failedTask: MakeArguments = async (world) => ({ p_task_id: await world.failedTask() });
const deadLetter: MakeArguments = async (world) => ({ p_dead_letter_id: await world.deadLetter() });
/** The arguments of an act of an operator. */
function because(make: MakeArguments): MakeArguments {
  return async (world) => ({ ...await make(world), p_reason: "a test" });
}
const project: MakeArguments = () => ({ p_project_id: SYNCED_PROJECT_ID });

export const FUNCTION_RULES: Readonly<Record<string, FunctionRule>> = {
  "cancel_task(uuid)": { ...OWNER_AND_SERVICE, arguments: waitingJob },
  "retain_job(uuid, boolean)": { ...OWNER_AND_SERVICE, arguments: waitingTask },
  "watch_task(uuid)": { ...OWNER_AND_OPENER, agent: "AGENT_NOT_ALLOWED", arguments: waitingTask },
  "respond_to_review(uuid, boolean, jsonb, text, integer, integer)": {
    ...OWNER_AND_SERVICE,
    arguments: async (world) => ({ p_task_id: await world.taskInReview(), p_approved: true }),
  },
  "reopen_review(uuid)": {
    ...OWNER_AND_SERVICE,
    arguments: async (world) => ({ p_task_id: await world.answeredTask() }),
  },
  // It reads no table, so every signed-in user may call it.
  "next_schedule_times(text, text, integer, timestamp with time zone)": {
    ...EACH_USER,
    service: "runs",
    agent: "runs",
    client: "runs",
    arguments: () => ({ p_cron: "30 7 * * mon-fri", p_time_zone: "Europe/Berlin" }),
  },
  "rotate_webhook_secret(uuid, text)": {
    ...OWNER_AND_SERVICE,
    stranger: "WEBHOOK_NOT_FOUND",
    arguments: ({ webhook }) => ({ p_webhook_id: webhook.id }),
  },
  "resend_webhook_message(uuid)": {
    ...OWNER_AND_SERVICE,
    stranger: "WEBHOOK_NOT_FOUND",
    arguments: ({ webhook }) => ({ p_message_id: webhook.messageId }),
  },
  "approve_statement(uuid, boolean)": {
    ...OWNER_AND_SERVICE,
    stranger: "CONFIRMATION_NOT_FOUND",
    arguments: async (world) => ({
      p_confirmation_id: await world.waitingStatement(),
      p_approved: true,
    }),
  },
  "set_tool_credential(text, text)": {
    ...EACH_USER,
    arguments: ({ toolSlug }) => ({ p_tool_slug: toolSlug, p_secret: "a user's own" }),
  },
  "set_approval(text, text, text, jsonb, text)": {
    ...EACH_USER,
    arguments: ({ agentSlug, toolSlug }) => ({
      p_agent: agentSlug,
      p_tool: toolSlug,
      p_ask: "always",
    }),
  },
  "set_provider_key(text, text)": {
    ...EACH_USER,
    arguments: ({ providerName }) => ({ p_provider: providerName, p_secret: "a user's own" }),
  },
  "retry_task(uuid)": { ...OWNER_AND_SERVICE, arguments: failedTask },
  // The task is of an agent.
  "signal_task(uuid, text, jsonb, text)": {
    ...OWNER_AND_SERVICE,
    owner: "SIGNAL_NOT_ACCEPTED",
    service: "SIGNAL_NOT_ACCEPTED",
    arguments: async (world) => ({ ...await waitingTask(world), p_name: "go" }),
  },
  "continue_task(uuid, jsonb, integer)": {
    ...OWNER_AND_SERVICE,
    arguments: async (world) => ({ p_task_id: await world.failedTask(), p_input: "Go on" }),
  },
  "fork_task(uuid, integer, jsonb)": {
    ...OWNER_AND_SERVICE,
    arguments: async (world) => ({ p_task_id: await world.failedTask(), p_from_seq: 1 }),
  },
  "list_jobs(jsonb, jsonb, integer)": { ...EACH_USER, agent: "runs", arguments: none },
  "schema_version()": {
    ...EACH_USER,
    service: "runs",
    agent: "runs",
    client: "runs",
    arguments: none,
  },
  // Computed from the row that it gets.
  "write_hash(mcp_executions)": {
    ...EACH_USER,
    service: "runs",
    agent: "runs",
    client: "runs",
    arguments: () => ({ p_call: null }),
  },
  "storage_use()": { ...EACH_USER, agent: "runs", arguments: none },
  "job_counts(jsonb)": { ...EACH_USER, agent: "runs", arguments: none },
  "usage_report(text, timestamp with time zone, timestamp with time zone, integer)": {
    ...EACH_USER,
    agent: "runs",
    arguments: () => ({ p_by: "day" }),
  },
  "list_tables()": { ...EACH_USER, arguments: none },
  "read_trace(uuid, jsonb, integer)": { ...OWNER_AND_OPENER, arguments: waitingJob },
  "search_trace(uuid, text, jsonb, integer)": {
    ...OWNER_AND_OPENER,
    arguments: async (world) => ({ ...await waitingJob(world), p_text: "a" }),
  },
  "read_events(uuid, text, integer, integer)": { ...OWNER_AND_OPENER, arguments: waitingTask },
  "read_answer(uuid)": { ...OWNER_AND_OPENER, arguments: waitingTask },
  "list_operator_acts(uuid)": { ...OWNER_AND_OPENER, arguments: waitingTask },
  // A stranger has no chat of this id.
  "find_chat(text, boolean)": {
    ...OWNER_AND_SERVICE,
    stranger: "runs",
    arguments: async (world) => ({ p_chat_id: await world.waitingTask() }),
  },
  "list_forks(uuid, integer)": { ...OWNER_AND_OPENER, arguments: waitingTask },
  "list_repeats(uuid, integer)": { ...OWNER_AND_OPENER, arguments: waitingTask },
  "check_head(uuid)": { ...OF_MEMBERS, arguments: project },
  "project_freshness(uuid)": { ...OF_MEMBERS, arguments: project },
  "search_documents(uuid, text, vector, text, integer, text, integer)": {
    ...OF_MEMBERS,
    arguments: () => ({ p_project_id: SYNCED_PROJECT_ID, p_query: "install" }),
  },
  // Row level security returns no rows to strangers instead of an error.
  "match_documents(vector, double precision, integer, uuid)": {
    ...OF_MEMBERS,
    stranger: "runs",
    arguments: () => ({
      query_embedding: JSON.stringify([1, ...Array(767).fill(0)]),
      match_threshold: 0,
      match_count: 5,
      filter_project_id: SYNCED_PROJECT_ID,
    }),
  },
  "read_document(uuid, text)": {
    ...OF_MEMBERS,
    arguments: () => ({ p_project_id: SYNCED_PROJECT_ID, p_file_path: "install.md" }),
  },
  "redrive(bigint)": { ...SERVICE_ALONE, arguments: deadLetter },
  "operator_cancel_job(uuid, text)": { ...OPERATORS_ALONE, arguments: because(waitingJob) },
  "pause_work(text, text, text, text, timestamp with time zone)": {
    ...OPERATORS_ALONE,
    arguments: () => ({ p_kind: "key", p_name: "matrix", p_reason: "a test" }),
  },
  "resume_work(text, text)": {
    ...OPERATORS_ALONE,
    arguments: () => ({ p_kind: "key", p_name: "matrix" }),
  },
  "paused_tasks(uuid)": {
    ...OWNER_AND_SERVICE,
    stranger: "runs",
    agent: "runs",
    arguments: async ({ waitingTask }) => ({ p_master_task_id: await waitingTask() }),
  },
  "operator_retry_task(uuid, text)": { ...OPERATORS_ALONE, arguments: because(failedTask) },
  "operator_redrive(bigint, text)": { ...OPERATORS_ALONE, arguments: because(deadLetter) },
  "operator_open_job(uuid, text)": { ...OPERATORS_ALONE, arguments: because(waitingTask) },
  "operator_tasks(uuid)": { ...OF_OPENERS, arguments: waitingTask },
  "operator_steps(uuid)": { ...OF_OPENERS, arguments: waitingTask },
  "operator_calls(uuid)": { ...OF_OPENERS, arguments: waitingTask },
  "operator_events(uuid)": { ...OF_OPENERS, arguments: waitingTask },
  "operator_acknowledge_problems(jsonb, text)": {
    ...OPERATORS_ALONE,
    arguments: () => ({ p_problems: [{}], p_reason: "why" }),
  },
  "operator_list_jobs(jsonb, jsonb, integer)": { ...OPERATORS_ALONE, arguments: none },
  "operator_job_counts(jsonb)": { ...OPERATORS_ALONE, arguments: none },
  "operator_save_definition(text, text, jsonb, jsonb, boolean)": {
    ...CONFIGURERS_ALONE,
    arguments: () => ({ p_kind: "agent", p_slug: "nobody", p_definition: null }),
  },
  "operator_rollback_agent(text, integer)": {
    ...CONFIGURERS_ALONE,
    service: "AGENT_NOT_FOUND",
    arguments: () => ({ p_slug: "nobody", p_revision: 1 }),
  },
  "operator_set_secret(text, text)": {
    ...CONFIGURERS_ALONE,
    arguments: () => ({ p_name: "MATRIX_KEY", p_secret: null }),
  },
  "operator_sync_servers(jsonb, boolean, jsonb, text, boolean)": {
    ...CONFIGURERS_ALONE,
    arguments: () => ({ p_servers: {}, p_is_dry_run: true }),
  },
  "operator_set_scopes(text, text[], text, text[], text)": {
    ...CONFIGURERS_ALONE,
    service: "USER_NOT_FOUND",
    arguments: () => ({ p_account: "nobody", p_scopes: [], p_reason: "A test" }),
  },
  "operator_retry_row_starts(text, bigint[])": {
    ...OPERATORS_ALONE,
    arguments: () => ({ p_trigger: "matrix" }),
  },
  "operator_test_webhook(text)": {
    ...CONFIGURERS_ALONE,
    service: "WEBHOOK_NOT_FOUND",
    arguments: () => ({ p_name: "nobody" }),
  },
  "operator_resend_webhook_message(uuid)": {
    ...CONFIGURERS_ALONE,
    service: "WEBHOOK_NOT_FOUND",
    arguments: () => ({ p_message_id: crypto.randomUUID() }),
  },
  "operator_failure_groups(jsonb)": { ...OPERATORS_ALONE, arguments: none },
  "operator_activity(integer, integer)": { ...OPERATORS_ALONE, arguments: none },
  "operator_usage_report(text, date, date, integer)": {
    ...OPERATORS_ALONE,
    arguments: () => ({ p_by: "day" }),
  },
  "operator_eval_results(uuid)": {
    ...OPERATORS_ALONE,
    arguments: () => ({ p_run_id: crypto.randomUUID() }),
  },
  "approve_tool_definition(uuid, text, text)": {
    ...OPERATORS_ALONE,
    arguments: ({ connectionId }) => ({
      p_connection_id: connectionId,
      p_tool_name: "tool",
      p_definition_hash: "",
    }),
  },
  // The token is made up: the test only checks that the service may call the function.
  "verify_tool_token(text)": {
    ...SERVICE_ALONE,
    service: "UNAUTHORIZED",
    arguments: () => ({ p_token: "swt_unknown" }),
  },
  "grant_scopes(uuid, text[], text)": {
    ...SERVICE_ALONE,
    arguments: () => ({ p_user_id: null, p_scopes: ["sql:read"] }),
  },
  "get_agent_mcp_tools(uuid, uuid, uuid)": {
    ...SERVICE_ALONE,
    arguments: ({ agentId }) => ({ p_agent_id: agentId }),
  },
  "record_mcp_tool_execution(uuid, text, jsonb, boolean)": {
    ...SERVICE_ALONE,
    arguments: ({ connectionId }) => ({
      p_connection_id: connectionId,
      p_tool_name: "tool",
      p_parameters: {},
    }),
  },
  "record_mcp_tool_success(uuid)": {
    ...SERVICE_ALONE,
    arguments: ({ connectionId }) => ({ p_connection_id: connectionId }),
  },
};

/**
 * The tables of `private` that signed-in users read: their own rows, through a view with the same
 * name.
 */
export const PRIVATE_TABLES_OF_USERS: readonly string[] = ["task_events"];

/**
 * The functions of `private` that signed-in users execute: behind policies and public functions.
 */
export const PRIVATE_FUNCTIONS_OF_USERS: readonly string[] = [
  "accepted_writes(oid)",
  "add_message(uuid, text, text, text)",
  "approve_statement(uuid, boolean)",
  "approve_tool_definition(uuid, text, text)",
  "call_as_caller(text, jsonb)",
  "cancel_task(uuid)",
  "catalog_version(jsonb)",
  "check_head(uuid)",
  "continue_task(uuid, jsonb, integer)",
  "create_conversation(text)",
  "delete_conversation(uuid)",
  "describe_columns(jsonb)",
  "describe_constraints(jsonb)",
  "describe_enums(jsonb)",
  "describe_functions(jsonb)",
  "describe_indexes(jsonb)",
  "describe_partitions(oid, jsonb)",
  "describe_relations(jsonb)",
  "describe_row_policies(jsonb)",
  "describe_schema(jsonb)",
  "describe_types(jsonb)",
  "event_data(uuid, text, jsonb)",
  "events_of(bigint, text, jsonb)",
  "find_chat(text, boolean)",
  "fork_task(uuid, integer, jsonb)",
  "has_own_scope(text)",
  "has_scope(text)",
  "has_write_policy(oid, text)",
  "hides_rows(oid)",
  "hides_rows_by_policy(oid)",
  "is_opened_job_file(text)",
  "is_operator()",
  "is_own_channel(text)",
  "is_own_job_file(text)",
  "is_own_upload(text)",
  "job_counts(jsonb)",
  "join_channel(text)",
  "join_channel_as_operator(text)",
  "list_forks(uuid, integer)",
  "list_jobs(jsonb, jsonb, integer)",
  "list_operator_acts(uuid)",
  "list_repeats(uuid, integer)",
  "listed_schemas()",
  "log_auth_event(text, jsonb)",
  "match_documents(vector, double precision, integer, uuid)",
  "may_delete_upload(text)",
  "may_upload(text)",
  "missing_write_right(oid, text, jsonb)",
  "next_schedule_times(text, text, integer, timestamp with time zone)",
  "operator_acknowledge_problems(jsonb, text)",
  "operator_activity(integer, integer)",
  "operator_acts()",
  "operator_agent_revisions()",
  "operator_alerts()",
  "operator_budgets()",
  "operator_calls(uuid)",
  "operator_cancel_job(uuid, text)",
  "operator_configuration_problems()",
  "operator_dead_letters()",
  "operator_definitions()",
  "operator_eval_results(uuid)",
  "operator_eval_runs()",
  "operator_events(uuid)",
  "operator_failure_groups(jsonb)",
  "operator_grants()",
  "operator_installation_checks()",
  "operator_job_counts(jsonb)",
  "operator_list_jobs(jsonb, jsonb, integer)",
  "operator_maintenance_failures()",
  "operator_missing_scopes()",
  "operator_open_job(uuid, text)",
  "operator_pulse()",
  "operator_queue_health()",
  "operator_redrive(bigint, text)",
  "operator_releases()",
  "operator_resend_webhook_message(uuid)",
  "operator_retiring_models()",
  "operator_retry_row_starts(text, bigint[])",
  "operator_retry_task(uuid, text)",
  "operator_rollback_agent(text, integer)",
  "operator_row_starts()",
  "operator_save_definition(text, text, jsonb, jsonb, boolean)",
  "operator_scopes()",
  "operator_secrets()",
  "operator_servers()",
  "operator_set_scopes(text, text[], text[], text, text)",
  "operator_set_secret(text, text)",
  "operator_setting_kinds()",
  "operator_settings()",
  "operator_steps(uuid)",
  "operator_stuck_tasks()",
  "operator_sync_servers(jsonb, boolean, jsonb, text, boolean)",
  "operator_table_sizes()",
  "operator_tasks(uuid)",
  "operator_test_webhook(text)",
  "operator_tool_definitions()",
  "operator_usage_report(text, date, date, integer)",
  "operator_webhook_messages()",
  "operator_workers()",
  "pause_work(text, text, text, text, timestamp with time zone)",
  "paused_tasks(uuid)",
  "paused_work()",
  "project_freshness(uuid)",
  "raise_error(text, text, text)",
  "read_answer(uuid)",
  "read_events(uuid, text, integer, integer)",
  "read_trace(uuid, jsonb, integer)",
  "readable_tool_days()",
  "reads_hidden_rows()",
  "record_sql_answer(uuid, jsonb)",
  "reopen_review(uuid)",
  "resend_webhook_message(uuid)",
  "respond_to_review(uuid, boolean, jsonb, text, integer, integer)",
  "resume_work(text, text)",
  "retain_job(uuid, boolean)",
  "retry_task(uuid)",
  "rotate_webhook_secret(uuid, text)",
  "rounded_ms(integer)",
  "save_ruleset(uuid, text, jsonb, integer)",
  "schema_version()",
  "search_documents(uuid, text, vector, text, integer, text, integer)",
  "search_trace(uuid, text, jsonb, integer)",
  "set_approval(text, text, text, jsonb, text)",
  "set_provider_key(text, text)",
  "set_tool_credential(text, text)",
  "signal_task(uuid, text, jsonb, text)",
  "spend_sql_confirmation(text, text, text, text, text)",
  "storage_use()",
  "task_id_of_channel(text)",
  "tool_calls_by_day(timestamp with time zone, timestamp with time zone)",
  "usage_report(text, timestamp with time zone, timestamp with time zone, integer)",
  "view_definition(oid, jsonb)",
  "visible_relations(jsonb)",
  "visible_types(jsonb)",
  "watch_task(uuid)",
];
