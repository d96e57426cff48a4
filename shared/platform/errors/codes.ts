/**
 * Declares every stable error code of the product and its properties. HTTP, the tool gateway, the
 * ledger, SQL and the documentation all read this declaration.
 *
 * `private.error_codes` (SQL) and the table in docs/errors.md are written from it by
 * `deno task generate errors`; `deno task check` compares them.
 */

/** Error types as `mcp_failures.error_type` records them, with their usual properties. */
export const ERROR_TYPES = {
  /** Arguments, names, or a definition that is not the approved one. */
  validation_error: { class: "schema", retryable: false, countsAsFailure: true },
  /** The called tool ran and reported an error. */
  tool_error: { class: "tool", retryable: false, countsAsFailure: true },
  /** No connection, no answer, or an unreadable answer. */
  transport_error: { class: "transport", retryable: true, countsAsFailure: true },
  timeout: { class: "timeout", retryable: true, countsAsFailure: true },
  /** Scopes, grants, policies, credentials: a property of the caller, not of the tool. */
  auth_error: { class: "auth", retryable: false, countsAsFailure: false },
  rate_limited: { class: "rate", retryable: true, countsAsFailure: false },
  /** An unusable row or answer, or a client that does not support elicitation. */
  config_error: { class: "protocol", retryable: false, countsAsFailure: false },
  /** The response to a write was lost. */
  outcome_unknown: { class: "transport", retryable: false, countsAsFailure: true },
  /** PostgreSQL rejected a statement. */
  sql_error: { class: "tool", retryable: false, countsAsFailure: true },
  /** A model did not answer in time. */
  llm_timeout: { class: "timeout", retryable: true, countsAsFailure: true },
  /** The caller disconnected. */
  cancelled: { class: "tool", retryable: false, countsAsFailure: false },
} as const;

/** As the ledger records a failure. */
export type ErrorType = keyof typeof ERROR_TYPES;

/** The type as callers see it: several internal types can mean the same to them. */
export type ErrorClass = (typeof ERROR_TYPES)[ErrorType]["class"];

/** The properties of an error code. */
export interface ErrorTraits {
  readonly status: number;
  readonly type: ErrorType;
  /** The next step for the reader, unless the error has a more specific hint. */
  readonly hint: string;
  /** True if the same request can succeed later without a change. */
  readonly retryable: boolean;
  /** True if it counts toward a tool's consecutive failures, which end in `EXCEEDED_RETRIES`. */
  readonly countsAsFailure: boolean;
  /** True if other arguments could fix it. */
  readonly isMendable: boolean;
  /**
   * True if the call was refused or not made: the plain JSON API then responds with this status.
   */
  readonly isRefusal: boolean;
  /** Who caused the error of a call to an external server; `either`: the server if it answered. */
  readonly origin: "platform" | "server" | "either";
}

type OwnTraits = Partial<Omit<ErrorTraits, "status" | "type" | "hint">>;

/** Makes errors of a type, which have its usual properties except their own. */
function errorsOf(type: ErrorType) {
  const { retryable, countsAsFailure } = ERROR_TYPES[type];
  const usual = { isMendable: false, isRefusal: false, origin: "platform" } as const;
  return (status: number, hint: string, own: OwnTraits = {}): ErrorTraits => {
    return { status, type, hint, retryable, countsAsFailure, ...usual, ...own };
  };
}

const tool = errorsOf("tool_error");
const validation = errorsOf("validation_error");
const auth = errorsOf("auth_error");
const transport = errorsOf("transport_error");
const rateLimited = errorsOf("rate_limited");
const config = errorsOf("config_error");
const sql = errorsOf("sql_error");
const modelTimeout = errorsOf("llm_timeout");

export const ERROR_CODES = {
  // Requests
  BODY_INVALID: tool(400, "Send the JSON body that the reference describes."),
  QUERY_INVALID: tool(400, "Send only the query parameters that the reference names."),
  METHOD_NOT_ALLOWED: tool(405, "Use the method that the Allow header names."),
  UNAUTHORIZED: auth(401, "Send a valid access token or a secret key of the project."),
  PROJECT_KEYS_UNSUPPORTED: auth(
    401,
    "Create new API keys and switch the project to asymmetric JWT signing keys.",
  ),
  FORBIDDEN: auth(403, "Use a credential that has this permission."),
  AGENT_NOT_ALLOWED: auth(
    403,
    "This action needs a person or the service; an agent can ask with request_human_review.",
  ),
  INTERNAL: tool(
    500,
    "Try again; if it fails again, look for the request id in the function's log.",
    { retryable: true },
  ),
  CONFIG_INVALID: tool(500, "Correct the setting that the message names."),
  ENDPOINT_BUSY: rateLimited(503, "Send the request again in a few seconds."),
  SCHEMA_OUTDATED: transport(
    503,
    "Apply the migrations of the functions' release: supabase db push --remote.",
  ),
  DATABASE_UNAVAILABLE: transport(503, "Try again in a moment."),
  DATABASE_REFUSED: tool(409, "Name a database that belongs to no Supabase project."),

  // Agents and tasks
  AGENT_NOT_FOUND: tool(404, "List the agents with GET /rest/v1/agents?select=slug."),
  AGENT_INACTIVE: tool(409, "Activate the agent or name another one."),
  AGENT_HANDOFF_FORBIDDEN: auth(403, "Hand off to an agent that agent_handoffs allows."),
  TASK_NOT_FOUND: tool(404, "Check the id and sign in as the task's owner."),
  JOB_NOT_OPENED: auth(403, "Open the job first: operator_open_job(p_task_id, p_reason)."),
  REASON_INVALID: tool(400, "Say why in 1 to 2,000 characters."),
  PAUSE_INVALID: tool(
    422,
    "Name an existing kind and name; docs/how-to/stop-and-resume-work.md lists the kinds.",
  ),
  WORK_PAUSED: rateLimited(503, "Try again when an operator has resumed the work.", {
    isRefusal: true,
  }),
  TASK_NOT_MASTER: tool(409, "Name the job's master task."),
  TASK_NOT_CONTINUABLE: tool(409, "Wait until the task has ended, or continue its master task."),
  TASK_NOT_RETRYABLE: tool(409, "Create a new task or fork one."),
  STEP_NOT_FOUND: tool(404, "Read the steps of the task with read_trace."),
  FORK_POINT_INVALID: tool(422, "Fork after a step that has a result."),
  FORK_CHANGES_INVALID: tool(
    422,
    "Change the input of the task, or the arguments or the answer of the call to fork from.",
  ),
  AGENT_CHANGES_INVALID: tool(
    422,
    "Change the provider, model, prompt, temperature, reasoning effort or tools of the agent.",
  ),
  DEAD_LETTER_NOT_FOUND: tool(404, "List the dead letters with GET /rest/v1/dead_letters."),
  TASK_INPUT_INVALID: tool(
    400,
    "Send the input as an object or as text, as input_schema of the agent says.",
  ),
  TASK_BUDGET_INVALID: tool(
    400,
    "Send only known caps, as whole numbers below the operator's ceilings.",
  ),
  TASK_PRIORITY_INVALID: tool(400, "Send high, normal or low."),
  TASK_RUN_AFTER_INVALID: tool(400, "Choose a time within a year."),
  ALERT_INVALID: tool(400, "Correct the field that the message names."),
  WEBHOOK_INVALID: tool(400, "Send an https URL and known events."),
  WEBHOOK_NOT_FOUND: tool(404, "Read the ids of your own webhooks and messages."),
  WEBHOOK_INACTIVE: tool(409, "Activate the webhook first."),
  WEBHOOK_NOT_DELIVERED: transport(
    502,
    "Make the receiver respond with 2xx within 15 seconds, then send the message again.",
  ),
  FILE_INVALID: tool(400, "Name at most 20 files by their full paths."),
  FILE_NOT_FOUND: tool(404, "Upload the file and name its full path."),
  FILE_TYPE_UNSUPPORTED: tool(422, "Send a file type that the agent's model supports."),
  FILES_TOO_LARGE: tool(422, "Send smaller or fewer files."),
  TRIGGER_INVALID: tool(400, "Correct the field that the message names."),
  TRIGGER_NOT_FOUND: tool(404, "Read the names from operator_definitions."),
  TRIGGER_INACTIVE: tool(409, "Activate the trigger first."),
  TRIGGER_TABLE_BUSY: tool(409, "Save it again when long transactions on the table have ended.", {
    retryable: true,
  }),
  TRIGGER_LIMIT_REACHED: tool(
    409,
    "Narrow the trigger's conditions or columns, or raise its max_per_hour.",
  ),
  SCHEDULE_CRON_INVALID: tool(
    400,
    "Write five fields that match at least one date, such as 30 7 * * mon-fri.",
  ),
  SCHEDULE_INVALID: tool(400, "Correct the schedule as the message says."),
  SCHEDULE_ZONE_INVALID: tool(400, "Use UTC or a name such as Europe/Berlin."),
  TASK_DELIVERIES_EXCEEDED: tool(
    500,
    "Look for the task's id in the worker's log, then retry the task.",
  ),
  LEASE_LOST: tool(409, "Stop writing: another worker has the task."),
  TASK_CANCELLED: tool(409, "Create the task again if it is still needed."),
  STEP_CONFLICT: tool(409, "Read the task's transcript again."),

  // Caps, budgets and quotas
  QUOTA_EXCEEDED: rateLimited(
    429,
    "Wait until the quota has room, or ask the operator to raise it.",
  ),
  DEPTH_EXCEEDED: tool(422, "Do the work in this task."),
  CHILDREN_EXCEEDED: tool(422, "Do the rest of the work in this task."),
  CALL_REPEATED: tool(422, "Remove the cause of the call's error, then retry the task."),
  TURNS_EXCEEDED: tool(422, "Raise the agent's max_turns, or give it a smaller goal."),
  STEPS_EXCEEDED: tool(422, "Create a task with a higher max_steps or a smaller goal."),
  TASKS_EXCEEDED: tool(422, "Do the rest of the work in this task."),
  BUDGET_EXCEEDED: tool(422, "Create the task with a larger budget."),
  PRICE_UNKNOWN: tool(422, "Add the model's price to model_prices or drop the cost cap."),
  OUTPUT_SCHEMA_INVALID: tool(422, "Send a valid JSON Schema (2020-12) as output_schema."),
  OUTPUT_SCHEMA_MISMATCH: tool(422, "Relax or simplify output_schema."),
  OUTPUT_TOO_LARGE: config(422, "Ask for less in one call.", { origin: "server" }),

  // Workflows
  WORKFLOW_NAME_TAKEN: tool(409, "Choose another name for the workflow, or delete the agent."),
  WORKFLOW_UNKNOWN: tool(409, "Deploy code that has the workflow, or cancel its jobs."),
  WORKFLOW_CHANGED: tool(
    409,
    "Give changed code a new workflow name beside the old one, or branch with flow.patched().",
  ),
  WORKFLOW_FAILED: tool(500, "Look at the workflow's steps, correct the cause and retry the task."),
  STEP_INVALID: tool(400, "Correct the step's name or options in the workflow's code."),
  STEP_NAME_REPEATED: tool(
    400,
    "Give each step a name of its own, such as `fetch ${id}`, or use flow.map().",
  ),
  STEP_RESULT_INVALID: tool(422, "Return JSON of at most 1 MiB that matches the step's schema."),
  STEP_TIMED_OUT: tool(504, "Give the step a longer timeout, or less to do."),
  STEP_OUTCOME_UNKNOWN: tool(409, "Check whether the step took effect, then retry the task."),
  SIGNAL_INVALID: tool(400, "Send a name of 1 to 200 characters and JSON of at most 1 MiB."),
  SIGNAL_NOT_ACCEPTED: tool(409, "Send signals to a workflow's task that has not ended."),
  SIGNAL_URL_INVALID: tool(404, "Use the URL as the workflow gave it, once."),

  // Reviews
  REVIEW_NOT_FOUND: tool(404, "List the open reviews with GET /rest/v1/human_reviews."),
  REVIEW_ALREADY_ANSWERED: tool(409, "Read the existing answer of the review."),
  REVIEW_NOT_REOPENABLE: tool(
    409,
    "Cancel the job, or send the agent a message when it has ended.",
  ),
  REVIEW_ANSWER_INVALID: tool(400, "Answer with p_approved true or false."),
  REVIEW_CHOICE_INVALID: tool(422, "Send one of the review's options as response.choice."),
  REVIEW_ARGUMENTS_INVALID: tool(
    422,
    "Send all arguments of the call as response.arguments, as its schema requires.",
  ),

  // Secrets
  SECRET_NOT_FOUND: auth(422, "Store the secret in Vault under that name."),
  SECRET_INVALID: auth(400, "Send a credential of printable characters."),
  PROVIDER_NOT_FOUND: tool(404, "Name an active row of llm_providers."),
  MODEL_POLICY_DENIED: auth(403, "Use a model that model_policies allows."),
  SPENDING_CAP_REACHED: rateLimited(
    429,
    "Wait for the next period of the cap, store your own key, or ask the operator to raise it.",
    { retryable: false },
  ),

  // Models
  MODEL_KEY_MISSING: tool(422, "Store the provider's key in Vault."),
  MODEL_AUTH_FAILED: tool(422, "Check the provider's key and the account's credit."),
  MODEL_REQUEST_INVALID: tool(422, "Check the agent's model and its settings."),
  MODEL_SCRIPT_FAILED: tool(422, "Correct the script that the message names."),
  MODEL_NOT_FOUND: tool(422, "Name a model that the provider serves."),
  MODEL_CONTEXT_EXCEEDED: tool(422, "Shorten the input, or use a model with a larger window."),
  MODEL_RATE_LIMITED: rateLimited(429, "Wait; the task retries automatically."),
  MODEL_UNAVAILABLE: transport(502, "Try again in a moment."),
  MODEL_TIMEOUT: modelTimeout(504, "Try again, with a smaller request if it fails again."),
  MODEL_CALL_UNFINISHED: modelTimeout(
    504,
    "Use a faster model, or ask for less in one answer.",
    { retryable: false },
  ),
  MODEL_OUTPUT_INVALID: transport(502, "Try again, or use another model."),
  MODEL_OUTPUT_CUT: tool(
    422,
    "Raise the agent's max_tokens, or ask for less in one answer.",
    { retryable: true },
  ),
  GUARDRAIL_REFUSED: tool(422, "Change the request; the message gives the reason."),
  GUARDRAIL_FAILED: transport(502, "Try again; correct the guardrail if this continues."),
  MODEL_REFUSED: tool(422, "Change the request."),

  // Tools
  TOOL_NOT_FOUND: validation(
    404,
    "List the tools and use one of their names.",
    { isRefusal: true, origin: "either" },
  ),
  APPROVAL_REJECTED: auth(403, "Continue without this call."),
  APPROVAL_RULE_INVALID: config(422, "Correct the conditions of the rule."),
  TOOL_FORBIDDEN: auth(403, "Ask an operator to allow the tool.", { isRefusal: true }),
  INSUFFICIENT_SCOPE: auth(
    403,
    "Ask an operator to add the scopes to the client's or user's grant.",
    { isRefusal: true },
  ),
  TOOL_DEFINITION_CHANGED: validation(
    409,
    "Ask an operator to approve the tool's definition.",
    { isRefusal: true },
  ),
  RESOURCE_NOT_FOUND: tool(404, "List the server's resources and prompts."),
  TOOL_CONFIG_INVALID: config(422, "Ask an operator to correct the tool's config."),
  DEFINITION_CHANGED: validation(409, "Read the definition again and repeat your change."),
  SCOPES_INVALID: auth(403, "Ask somebody who has the scope, or the service, to change it."),
  DEFINITION_INVALID: validation(422, "Correct the definition as the message says."),
  REVISION_NOT_FOUND: tool(404, "Read the revisions from operator_agent_revisions."),
  AGENT_INVALID: config(422, "Correct the agent as the message says."),
  PROVIDER_INVALID: config(422, "Correct the provider as the message says."),
  TOOL_ASKS_MORE: config(422, "Call the tool from a client that can answer its questions."),
  TOOL_ARGUMENTS_INVALID: validation(
    422,
    "Call the tool with arguments that fit its input schema.",
    { isMendable: true, origin: "either" },
  ),
  TOOL_RATE_LIMITED: rateLimited(429, "Wait before the next call.", {
    isRefusal: true,
    origin: "either",
  }),
  TOOL_INPUT_TOO_LARGE: validation(
    413,
    "Send less input in one call.",
    { countsAsFailure: false, isMendable: true, isRefusal: true },
  ),
  TOOL_UNAVAILABLE: transport(502, "Try again in a moment.", { isRefusal: true, origin: "server" }),
  TOOL_AUTH_FAILED: auth(
    502,
    "Replace the credential that the tool's server refuses.",
    { isRefusal: true, origin: "server" },
  ),
  AUTHORIZATION_REQUIRED: auth(403, "Connect your own account to the server.", { isRefusal: true }),
  CREDENTIAL_REQUIRED: auth(
    403,
    "Store your own credential with set_tool_credential.",
    { isRefusal: true },
  ),
  AUTHORIZATION_INVALID: tool(400, "Restart the connection of the account."),
  AUTHORIZATION_REFUSED: tool(422, "Restart the connection of the account."),
  OAUTH_UNAVAILABLE: tool(422, "Store a credential with set_tool_credential instead."),
  TOOL_STATE_INVALID: config(422, "Call the tool again from the beginning."),
  STATEMENT_STILL_RUNNING: rateLimited(
    429,
    "Wait until the earlier statement has ended; an operator can see why it does not.",
  ),
  TOOL_TIMEOUT: errorsOf("timeout")(
    504,
    "Ask for less in one call, or try again later.",
    { isRefusal: true, origin: "server" },
  ),
  TOOL_FAILED: tool(
    502,
    "Read the tool's message and change the call.",
    { isMendable: true, origin: "server" },
  ),
  TOOL_OUTCOME_UNKNOWN: errorsOf("outcome_unknown")(
    502,
    "Check whether the call took effect before you repeat it.",
    { origin: "server" },
  ),
  TOOL_CANCELLED: errorsOf("cancelled")(409, "Call the tool again if it is still needed."),
  TOOL_ADDRESS_FORBIDDEN: config(422, "Register a public address."),
  EXCEEDED_RETRIES: tool(422, "Try a different approach.", { origin: "server" }),
  CALLER_REQUIRED: auth(422, "Repeat the call as a signed-in user."),
  FEEDBACK_TOKEN_NOT_FOUND: tool(404, "Send the feedback_token of one of your own tool calls."),
  FEEDBACK_CLOSED: tool(409, "Grade a more recent call."),

  // SQL
  SQL_INVALID: sql(422, "Send one statement that PostgreSQL can parse.", { isMendable: true }),
  SQL_FORBIDDEN: sql(
    422,
    "Use what the SQL policy allows, or ask an operator to extend it.",
    { isMendable: true },
  ),
  SQL_FAILED: sql(
    422,
    "Correct the statement; use the SQLSTATE, position and hint.",
    { isMendable: true },
  ),
  SQL_RIGHT_MISSING: auth(
    403,
    "Ask an operator for the right that the message names, or change the statement.",
    { isMendable: true },
  ),
  MIGRATION_REQUIRED: auth(
    403,
    "Save proposed_migration as a file of the project and let an operator push it.",
  ),
  SQL_ROW_LIMIT_EXCEEDED: sql(
    422,
    "Narrow the WHERE clause and repeat the dry run.",
    { isMendable: true },
  ),
  CONFIRMATION_REQUIRED: validation(
    422,
    "Run it with dry_run: true first, then send the next_call from the response.",
    { isMendable: true, countsAsFailure: false },
  ),
  CONFIRMATION_INVALID: validation(
    422,
    "Run the statement with dry_run: true and send the next_call from the response.",
    { isMendable: true },
  ),
  APPROVAL_REQUIRED: auth(
    422,
    "Ask the owner to decide, then send the same call again.",
  ),
  CONFIRMATION_NOT_FOUND: tool(404, "Read your waiting statements in sql_confirmations."),

  // Documents
  PROJECT_NOT_FOUND: tool(404, "List your projects with quoth_list_projects."),
  PROJECT_LANGUAGE_UNKNOWN: tool(400, "Name a text-search configuration of pg_ts_config."),
  PROJECT_SOURCE_MISMATCH: tool(
    409,
    "Use the project's own source (a repository or files), or choose another slug.",
  ),
  DOCUMENT_NOT_FOUND: tool(404, "Search for the document's current path."),
  DOCUMENT_INVALID: tool(400, "Send the document with all of its chunks."),
  QUERY_EMBEDDING_INVALID: tool(400, "Send a vector of 768 dimensions that is not zero."),
  EMBEDDER_MISMATCH: tool(409, "Use the project's current embedder."),
  SWITCH_INCOMPLETE: tool(409, "Wait until the next embedder has all vectors."),

  // Embedders
  EMBEDDER_NOT_FOUND: tool(404, "Name an active row of embedders."),
  EMBEDDER_FIXED: tool(409, "Add another embedder and switch the project to it."),
  EMBEDDER_KEY_MISSING: tool(422, "Store the embedder's key in Vault."),
  EMBEDDER_REFUSED: tool(
    422,
    "Check the embedder's key, model and base_url, and the account's credit.",
  ),
  EMBEDDER_TEXT_REFUSED: tool(422, "Send the texts one by one to find the one it rejects."),
  EMBEDDER_RATE_LIMITED: rateLimited(
    429,
    "Wait as long as the provider asks, or lower the embedder's items_per_minute.",
  ),
  EMBEDDER_QUOTA_EXHAUSTED: rateLimited(
    429,
    "Wait until the quota resets, or raise it at the provider.",
  ),
  EMBEDDER_UNAVAILABLE: transport(
    502,
    "Try again later; check the embedder's base_url if this continues.",
  ),
  EMBEDDER_OUTPUT_INVALID: transport(
    502,
    "Check that the embedder's model and model_dimensions belong together.",
    { retryable: false },
  ),

  // Syncs of repositories
  GITHUB_RATE_LIMITED: rateLimited(429, "Wait; the sync retries automatically."),
  GITHUB_UNAVAILABLE: transport(502, "Wait; the sync retries automatically."),
  GITHUB_AUTH_FAILED: tool(422, "Replace the project's GitHub token."),
  GITHUB_NOT_FOUND: tool(404, "Check the repository, the branch and the token's rights."),
  FILE_NOT_TEXT: tool(422, "Save the file as UTF-8 text, or exclude it."),
  FILE_TOO_LARGE: tool(422, "Split the file, or exclude it."),
  FILE_UNREADABLE: tool(422, "Correct the file, or exclude it."),
  FILE_UNAVAILABLE: transport(502, "Wait; the sync retries the file automatically."),
  USER_NOT_FOUND: tool(404, "Name a user of this project."),
  SYNC_DELIVERIES_EXCEEDED: tool(
    500,
    "Look for the sync's id in the function's log, then sync again.",
  ),

  // The tool catalog
  CHAT_NOT_FOUND: tool(404, "Check the chat's id, and that its user is signed in."),
  CONVERSATION_NOT_FOUND: tool(404, "List your conversations with GET /rest/v1/conversations."),
  MESSAGE_NOT_FOUND: tool(404, "Name a message of the same conversation."),
  RULESET_NOT_FOUND: tool(404, "List the rulesets with list_rulesets."),
  RULESET_VERSION_CONFLICT: tool(
    409,
    "Read the ruleset again and save with its current version.",
    { countsAsFailure: false },
  ),

  // Skills and data
  SKILL_NOT_FOUND: tool(404, "Load one of the skills that the agent has."),
  SKILL_RESOURCE_NOT_FOUND: tool(404, "Name one of the skill's resources."),
  SKILL_INVALID: tool(400, "Correct the skill's folder as the message says."),
  STORAGE_UNAVAILABLE: transport(502, "Try again in a moment."),
} satisfies Record<string, ErrorTraits>;

/** A stable code; clients may branch on it. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** True if `value` is one of the product's stable codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERROR_CODES, value);
}

/** The properties of a code; without a code, a tool reported an error in its own words. */
export function traitsOf(code: ErrorCode | undefined): ErrorTraits {
  return ERROR_CODES[code ?? "TOOL_FAILED"];
}
