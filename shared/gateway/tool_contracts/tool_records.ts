import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { type ErrorCode, isErrorCode } from "../../platform/errors/codes.ts";
import { workPauseSchema } from "../../platform/errors/work_paused.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { schemaLossesSchema } from "../../models/tool_schemas/schema_loss.ts";
import { CONDITION_OPERATORS } from "./approval.ts";
import { DATA_FLOWS } from "./data_flow.ts";
import { connectionStateSchema } from "./connection_state.ts";
import { toolDefinitionSchema } from "./tool_definition.ts";

/** A row of `tools`. */
export type RegisteredTool = z.infer<typeof registeredToolSchema>;

const registeredToolSchema = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  type: z.enum(CLOSED_SETS.tools.type),
  description: z.string().nullable(),
  config: jsonValue,
  credential_type: z.string().nullable(),
  credential_secret_name: z.string().nullable(),
});

const breakerSchema = z.enum(["closed", "open", "half_open"]);

/** A registry row with its connection, as returned by SQL. */
export const serverSchema = z.object({
  tool: registeredToolSchema,
  connection: connectionStateSchema.extend({
    id: z.string(),
    /** Unapproved instructions are not passed on. */
    are_instructions_approved: z.boolean(),
    instructions_hash: z.string().nullable(),
  }),
  tools_listed_at: z.string().nullable(),
  listing_error: z.object({
    code: z.custom<ErrorCode>(isErrorCode),
    message: z.string(),
  }).nullable().catch(null),
  breaker: breakerSchema,
  retry_at: z.string().nullable(),
});

/** A registry row with its connection for one user. */
export type RegisteredServer = z.infer<typeof serverSchema>;

const toolStateSchema = z.enum(CLOSED_SETS.mcp_tools_cache.state);

/** The result of `private.resolve_tool_credential()`. */
export const credentialSchema = z.object({
  /** Null if the tool has no secret. */
  secret: z.string().nullable(),
  /** The user's own. */
  is_own: z.boolean(),
  /** For an access token that the user authorized. */
  connection: z.object({
    credential_id: z.string(),
    generation: z.number(),
    /** To be renewed before it is used. */
    is_stale: z.boolean(),
    needs_authorization: z.boolean(),
  }).nullable(),
});

/** The Vault secrets for a call. */
export type ResolvedCredential = z.infer<typeof credentialSchema>;

/** Secrets by name. */
export const namedSecretsSchema = z.record(z.string(), z.string());

const conditionSchema = z.union([
  z.object({ data_flow: z.enum(DATA_FLOWS) }),
  z.object({
    /** JSON Pointer into the arguments; `*` stands for every item of a list. */
    argument: z.string(),
    operator: z.enum(CONDITION_OPERATORS),
    value: jsonValue,
  }),
]);
const ruleSchema = z.object({
  ask: z.enum(CLOSED_SETS.agent_approvals.ask),
  conditions: z.array(conditionSchema),
});

/** A condition of a rule, as `private.is_approval_condition()` admits it. */
export type ApprovalCondition = z.infer<typeof conditionSchema>;
/** A rule of `agent_approvals`. */
export type ApprovalRule = z.infer<typeof ruleSchema>;

/** The data that SQL returns for a call. */
export const callSchema = serverSchema.extend({
  user_id: z.string().nullable(),
  /** The row of `sessions` that the call belongs to. */
  session_id: z.string().nullable(),
  /** The OAuth client of the call; inside a task, the client that created its job. */
  client_id: z.string().nullable(),
  /** Null for every scope. */
  scopes: z.array(z.string()).nullable(),
  is_granted: z.boolean(),
  is_allowed: z.boolean(),
  /** An operator has paused the tool or its server. @default not paused */
  pause: workPauseSchema.nullish(),
  /** Null if no agent calls. */
  approval: z.object({
    /** At most the one for everyone's jobs and the owner's. */
    rules: z.array(ruleSchema),
    /** Those that a person has approved for this step; null if nobody has. */
    approved_arguments: jsonObject.nullable(),
  }).nullable(),
  timeout_ms: z.number().nullable(),
  /** Size limit of the arguments as JSON; null without a limit. */
  max_input_bytes: z.number().nullable(),
  /** The server's list is older than requested; the call was not counted against its limit. */
  is_due: z.boolean(),
  /** 0: within the rate limit. */
  retry_after_ms: z.number(),
  /** Null if the call is refused or if Vault lacks a secret; resolving it then reports which. */
  secrets: z.object({ credential: credentialSchema, named: namedSecretsSchema }).nullable(),
  cached: z.object({
    name: z.string(),
    version: z.string().nullable(),
    schema: toolDefinitionSchema,
    hash: z.string(),
    state: toolStateSchema,
    held: toolDefinitionSchema.nullable(),
  }).nullable(),
  tool_names: z.array(z.string()),
});

/** Everything that one call needs. */
export type CallRecord = z.infer<typeof callSchema>;

/** The data that SQL returns for a resource or prompt request. */
export const relaySchema = serverSchema.extend({
  is_allowed: z.boolean(),
  timeout_ms: z.number().nullable(),
  retry_after_ms: z.number(),
});

/** A server that gets a request other than a tool call. */
export type RelayRecord = z.infer<typeof relaySchema>;

/** A row of `get_agent_mcp_tools()`. */
export const agentToolSchema = z.object({
  tool_id: z.string(),
  server: z.string(),
  tool_name: z.string(),
  tool_schema: toolDefinitionSchema,
  successful_parameters: z.array(jsonValue),
  is_shape: z.boolean(),
  success_count: z.number(),
  tool_type: z.string(),
  parameter_shape: jsonValue.nullable(),
  data_flows: jsonObject.nullable(),
  destination: z.string().nullable(),
});

/** A cached tool of an agent with its known-good parameters. */
export type CachedTool = z.infer<typeof agentToolSchema>;

/** The parameters of successful calls in the tool cache. */
export interface LearnedParameters {
  /** Newest last. */
  readonly sets: readonly JsonValue[];
  /** The sets are shapes of anyone's calls, not this caller's own arguments. */
  readonly isShape: boolean;
  readonly successCount: number;
}

/** The result of `private.learned_parameters()`. */
export const learnedSchema = z.object({
  successful_parameters: z.array(jsonValue),
  is_shape: z.boolean(),
  success_count: z.number(),
}).transform((row): LearnedParameters => ({
  sets: row.successful_parameters,
  isShape: row.is_shape,
  successCount: row.success_count,
}));

const usableServerSchema = z.object({
  tool: registeredToolSchema,
  connection_id: z.string().nullable(),
  user_id: z.string().nullable(),
  health: z.enum(CLOSED_SETS.agent_mcp_connections.health),
  breaker: breakerSchema,
  retry_at: z.string().nullable(),
  failure_count: z.number(),
  last_success_at: z.string().nullable(),
  tools_listed_at: z.string().nullable(),
  /** For each callable tool. */
  tool_scopes: z.array(z.array(z.string())),
});

/** An active server with the caller's connection, if there is one yet. */
export type UsableServer = z.infer<typeof usableServerSchema>;

/** A row of `private.usable_servers()`. */
export const usableSchema = z.object({
  server: usableServerSchema,
  scopes: z.array(z.string()).nullable(),
});

const modelOptionsSchema = z.object({
  providers: z.array(z.string()),
  default_provider: z.string(),
  default_model: z.string().nullable(),
  models_by_provider: z.record(z.string(), z.array(z.string())),
});

/** The models that a tool's caller may choose from, from its row in `mcp_tool_models`. */
export type ToolModelOptions = z.infer<typeof modelOptionsSchema>;

/** The result of `private.server_listing()`. */
export const listingSchema = serverSchema.extend({
  is_due: z.boolean(),
  dropped: z.array(z.object({ name: z.string(), reason: z.string() })),
  tools: z.array(z.object({
    name: z.string(),
    version: z.string().nullable(),
    schema: toolDefinitionSchema,
    hash: z.string(),
    losses: schemaLossesSchema,
    scopes: z.array(z.string()),
    is_allowed: z.boolean(),
    models: modelOptionsSchema.nullable(),
    state: toolStateSchema,
    held: toolDefinitionSchema.nullable(),
    approved: toolDefinitionSchema.nullable(),
    /** The server sent the approved definition to another user, not to this one. */
    is_approved_anothers: z.boolean(),
    successful_parameters: z.array(jsonValue),
    is_shape: z.boolean(),
    success_count: z.number(),
    last_successful_call: z.string().nullable(),
    last_updated: z.string(),
  })),
});

/** A server with its cached tools. */
export type ServerListing = z.infer<typeof listingSchema>;
