import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { CONDITION_OPERATORS } from "../../gateway/tool_contracts/approval.ts";
import { DATA_FLOWS } from "../../gateway/tool_contracts/data_flow.ts";
import { TOOL_CONFIG_SCHEMAS } from "../../gateway/tool_contracts/tool_config.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";

const slug = z.string().regex(
  /^[a-z0-9][a-z0-9_-]{0,62}$/,
  "must be 1 to 63 lowercase letters, digits, - and _",
);

/** A list of names, also in the form of coding agents' subagents: one text with commas. */
const names = z.union([
  z.string().transform((text) => text.split(",").map((name) => name.trim()).filter(Boolean)),
  z.array(z.string().trim().min(1)),
]);

const wholeNumber = z.int().nonnegative();

/** The default is for those who read the schema, such as the console: an omitted value stays so. */
const isEnabled = z.boolean().optional().meta({ default: true });

/** As row_condition() in SQL reads them. */
const ROW_OPERATORS = [
  ...["eq", "neq", "gt", "gte", "lt", "lte", "in", "is_null", "not_null"] as const,
] as const;

/** Caps of a job, with the names of the HTTP API. */
const budget = z.strictObject({
  max_input_tokens: wholeNumber.optional(),
  max_output_tokens: wholeNumber.optional(),
  max_cost_micro_usd: wholeNumber.optional(),
  max_steps: wholeNumber.optional(),
  max_depth: wholeNumber.optional(),
  max_tasks: wholeNumber.optional(),
  max_wall_seconds: wholeNumber.optional(),
});

const condition = z.union([
  z.strictObject({
    argument: z.string().describe("A JSON Pointer into the arguments; * stands for every item."),
    operator: z.enum(CONDITION_OPERATORS),
    value: jsonValue,
  }),
  z.strictObject({ data_flow: z.enum(DATA_FLOWS) }),
]);

/** The front matter of `agents/<slug>.md`. */
export type AgentFile = z.infer<typeof agentFileSchema>;
/** See {@linkcode AgentFile}. */
export const agentFileSchema = z.strictObject({
  name: slug.describe("The agent's slug: the name of the file without .md."),
  description: z.string().trim().min(1).optional()
    .describe("When to use the agent. Other agents choose by it whom to hand off to."),
  tools: names.optional().describe(
    "Slugs of tools, such as crm; of one tool of a server, such as crm/find. None if omitted.",
  ),
  model: z.string().trim().min(1).optional()
    .describe("Name of the model. inherit, or omitted: the provider's default."),
  maxTurns: z.int().positive().optional().describe("Most model calls of one task."),
  skills: names.optional().describe("Ids of skills, the most important first."),
  provider: z.string().trim().min(1).describe("Name of a row of llm_providers."),
  fallbacks: z.array(z.string().trim().min(1)).optional()
    .describe("provider or provider/model, used in this order when the provider is unavailable."),
  handoffs: z.union([z.enum(["any", "none"]), z.array(slug)]).optional()
    .describe("none, or the slugs of the agents that it may hand off to. Omitted: any."),
  input_schema: jsonObject.optional().describe("JSON Schema of the input."),
  output_schema: jsonObject.optional().describe("JSON Schema of the result."),
  must_complete: z.boolean().optional()
    .meta({ description: "Only complete_task ends a task.", default: false }),
  budget: budget.optional().describe("Caps of the jobs that start with this agent."),
  guardrails: z.strictObject({
    input: z.array(z.string()).optional(),
    output: z.array(z.string()).optional(),
  }).optional().describe("Tools, as server/tool, that check the input and the output."),
  approvals: z.array(z.strictObject({
    tool: z.string().trim().min(1).describe("server, server/tool, web_search or code_execution."),
    ask: z.enum(CLOSED_SETS.agent_approvals.ask),
    when: z.array(condition).min(1).optional(),
  })).optional().describe("Before which calls a person is asked."),
  reasoning_effort: z.enum(CLOSED_SETS.agents.reasoning_effort).optional(),
  provider_tools: z.array(z.enum(CLOSED_SETS.agents.provider_tools)).optional()
    .describe("Tools that the model's provider runs."),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().positive().optional().describe("Most output tokens of one model call."),
  max_continuations: z.int().min(0).max(20).optional()
    .describe("Most calls that continue one answer that was cut at max_tokens. Omitted: 3."),
  audience: z.enum(CLOSED_SETS.agents.audience).optional()
    .describe("named: only the users in agent_audience. Omitted: everyone."),
  display_name: z.string().trim().min(1).optional().describe("Shown to people. Omitted: the slug."),
  enabled: isEnabled.describe("Whether it gets new tasks."),
});

/**
 * Keys of coding agents' subagents that have no meaning here. Ignoring them could give an agent
 * more rights than its author meant.
 */
export const FOREIGN_AGENT_KEYS: Readonly<Record<string, string>> = {
  disallowedTools: "list the allowed ones under tools as server/tool",
  permissionMode: "use approvals",
  mcpServers: "add the servers to external-mcps.yaml and name them under tools",
  hooks: "use guardrails",
  memory: "give the agent a tool that keeps data",
  background: "every job runs in the background",
  isolation: "every tool runs outside of the agent",
  effort: "use reasoning_effort",
  color: "agents have no color",
};

const credential = z.strictObject({
  secret: z.string().trim().min(1).optional()
    .describe("Name of the secret in Vault; never the secret itself."),
  type: z.enum(CLOSED_SETS.tools.credential_type).optional(),
  description: z.string().optional(),
  audience: z.enum(CLOSED_SETS.tools.credential_audience).optional(),
});

const flow = z.enum(["reads_private", "reads_outside", "sends_outside"]);

const toolParts = {
  display_name: z.string().trim().min(1).optional().describe("Shown to people. Omitted: the slug."),
  description: z.string().trim().min(1).optional().describe("The model chooses the tool by it."),
  credential: credential.optional(),
  audience: z.enum(CLOSED_SETS.tools.audience).optional()
    .describe(
      "everyone: all who may run jobs. Omitted: granted, those with the scope mcp:<slug>.",
    ),
  data_flows: z.record(z.string(), z.array(flow)).optional()
    .describe("The data flows of the tool, under * or its name. Omitted: derived from its type."),
  enabled: isEnabled.describe("Whether agents get the tool."),
};

/** `agents/tools/<slug>.yaml`. */
export type ToolFile = z.infer<typeof toolFileSchema>;
/** See {@linkcode ToolFile}. */
export const toolFileSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("http_api"),
    ...toolParts,
    config: TOOL_CONFIG_SCHEMAS.http_api,
  }),
  z.strictObject({
    type: z.literal("database_function"),
    ...toolParts,
    config: TOOL_CONFIG_SCHEMAS.database_function,
  }),
  z.strictObject({
    type: z.literal("edge_function"),
    ...toolParts,
    config: TOOL_CONFIG_SCHEMAS.edge_function,
  }),
]);

/** An entry of `agents/schedules.yaml`. */
const schedule = z.strictObject({
  agent: slug,
  input: z.union([z.string().min(1), jsonObject]).describe("The input of each job."),
  cron: z.string().trim().min(1).describe("Five fields, or @hourly, @daily, @weekly, …"),
  time_zone: z.string().optional().describe("Such as Europe/Berlin. Omitted: UTC."),
  overlap: z.enum(CLOSED_SETS.schedules.overlap).optional(),
  priority: z.enum(CLOSED_SETS.schedules.priority).optional(),
  budget: budget.optional(),
  metadata: jsonObject.optional(),
  enabled: isEnabled,
});

const entryName = z.string().min(1).max(100);

/** `agents/schedules.yaml`: schedules of the service by name. */
export const schedulesFileSchema = z.record(entryName, schedule);

const webhook = z.strictObject({
  url: z.string().regex(/^https?:\/\/[^\s/?#@]+([/?#]\S*)?$/, "must be an http(s) URL"),
  events: z.array(z.enum([
    "task.created",
    "task.started",
    "task.parked",
    "task.resumed",
    "task.retried",
    "task.completed",
    "task.failed",
    "task.cancelled",
    "review.requested",
    "review.answered",
    "review.reopened",
    "alert.raised",
    "alert.cleared",
  ])).min(1),
  includes_subtasks: z.boolean().optional().meta({ default: false }),
  enabled: isEnabled,
});

/** `agents/webhooks.yaml`: webhooks of the service by name. */
export const webhooksFileSchema = z.record(entryName, webhook);

const alert = z.strictObject({
  measure: z.enum(CLOSED_SETS.alerts.measure),
  above: z.number().min(0).describe("Raised above this. failure_rate: a share such as 0.2."),
  minutes: z.int().min(1).max(10_080).optional()
    .describe("Window of failure_rate, cost_usd and dead_letters. Omitted: 60."),
  agent: slug.optional().describe("failure_rate and cost_usd of one agent. Omitted: of all."),
  at_least: z.int().positive().optional()
    .describe("failure_rate needs this many ended jobs. Omitted: 10."),
  enabled: isEnabled,
});

/** `agents/alerts.yaml`: alerts by name. */
export const alertsFileSchema = z.record(entryName, alert);

const column = z.string().min(1);

const trigger = z.strictObject({
  table: z.string().min(1).describe("The table as it is called: orders, or shop.orders."),
  events: z.array(z.enum(["insert", "update", "delete"])).min(1),
  columns: z.array(column).min(1).optional()
    .describe("An update counts only if one of these has changed. Omitted: every update."),
  conditions: z.array(z.strictObject({
    column,
    op: z.enum(ROW_OPERATORS),
    value: jsonValue.optional().describe("None for is_null and not_null, a list for in."),
  })).optional().describe("All of them must hold. Omitted: each row counts."),
  agent: slug,
  input: z.record(z.string().min(1), column).optional()
    .describe(
      "The input of a job, by key the column. Omitted: {event, row}, for an update also old.",
    ),
  owner_column: column.optional()
    .describe("The column with the job's owner. Omitted: who changed the row, or the service."),
  starts_per: z.enum(CLOSED_SETS.row_triggers.starts_per).optional()
    .meta({ description: "statement: one job for all rows of a statement.", default: "row" }),
  key: z.array(column).min(1).optional()
    .describe("Columns of which the limits count changes together. Omitted: the primary key."),
  debounce_seconds: z.int().min(0).max(86_400).optional()
    .describe("A job starts this long after the last change of its key. Omitted: immediately."),
  max_per_hour: z.int().positive().optional().describe(
    "Most jobs of a key in an hour. Omitted: 20.",
  ),
  enabled: isEnabled,
});

/** `agents/triggers.yaml`: row triggers by name. */
export const triggersFileSchema = z.record(entryName, trigger);

/** The front matter of `SKILL.md`, as its standard has it; other fields are kept. */
export const skillFileSchema = z.looseObject({
  name: z.string().min(1).max(64),
  description: z.string().min(1).max(4096).describe("When to use the skill."),
  version: z.union([z.string(), z.number()]).optional(),
});
