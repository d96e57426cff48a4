import type { Sql, TransactionSql } from "../../vendor/postgres.js";
import { z } from "../../vendor/zod.js";
import type { ContentBlock, ResourceContents } from "../../platform/values/content_block.ts";
import type { ErrorCode } from "../../platform/errors/codes.ts";
import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Approval } from "./approval.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { ToolCaller } from "./tool_caller.ts";
import type { StreamedText, ToolLogLevel } from "./tool_call.ts";
import type { CallToolModel } from "./tool_model.ts";
import type { ModelUse } from "./tool_server.ts";

/** The context of a tool, resource or prompt of an internal server during one call. */
export interface ToolContext {
  /** Runs as role postgres: only for the product's own data, never for a caller's statements. */
  readonly sql: Sql;
  readonly supabaseUrl: string;
  /** The project as browsers reach it: for addresses in an answer. */
  readonly publicUrl: string;
  /**
   * A secret key of the project for the server's own requests; it must never appear in an answer.
   */
  readonly secretKey: string;
  /** For requests to other machines; refuses private addresses. */
  readonly fetch: typeof fetch;
  readonly log: Logger;
  /** The caller; in a task, its user is the task's owner. */
  readonly caller: ToolCaller;
  /** The id of this call's row in `mcp_executions`. */
  readonly executionId: string;
  /** The same for every delivery of the same call. */
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  /** Aborted when the caller disconnects or the time is up. */
  readonly signal: AbortSignal;
  /** Whether the caller can fill in a form that {@linkcode inputRequired} asks for. */
  readonly acceptsInput: boolean;
  /** The capabilities among `elicitation`, `sampling` and `roots` that the caller declared. */
  readonly inputCapabilities: JsonObject;
  /** Answers to an earlier {@linkcode inputRequired}, with its state; the state is untrusted. */
  readonly inputResponses: JsonObject | null;
  readonly requestState: string | null;
  /** Whether a person or a rule has approved an agent's call with these arguments. */
  readonly approval: Approval;
  /** Reports the call's progress to the caller; `done` must increase. */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Streams the answer's text to the caller; null if the caller does not stream. The answer must
   * still contain the whole text.
   */
  readonly streamText: ((text: Pick<StreamedText, "text"> & Partial<StreamedText>) => void) | null;
  /** Sends log messages to a caller that requested them; only for servers with `logsForCallers`. */
  logForCaller(level: ToolLogLevel, data: JsonValue): void;
  /**
   * Runs a transaction with the caller's role and claims, so that row level security holds. An
   * abort cancels the running statement.
   *
   * @throws SwarmError `CALLER_REQUIRED` when there is no user.
   */
  runAsCaller<T>(
    work: (sql: TransactionSql) => Promise<T>,
    options?: RunAsCallerOptions,
  ): Promise<T>;
  /**
   * Runs a transaction with the rights of the project's migrations on behalf of the caller, who must
   * be an operator and no agent. Only for statements that no one else could have chosen more of
   * than their limits allow.
   *
   * @throws SwarmError `CALLER_REQUIRED` when there is no user, `MIGRATION_REQUIRED` when the user is
   * no operator.
   */
  runAsOperator<T>(
    work: (sql: TransactionSql) => Promise<T>,
    options?: RunAsCallerOptions,
  ): Promise<T>;
  /**
   * Requires scopes beyond the tool's own, depending on its arguments.
   *
   * @throws SwarmError `INSUFFICIENT_SCOPE` with the scopes that the caller lacks.
   */
  requireScopes(scopes: readonly string[]): void;
  /**
   * Marks a value of the arguments or the answer that must not be stored: it is replaced in the
   * ledger, in the steps of a task and in broadcasts, but stays in the answer.
   */
  keepFromLedger(value: string): void;
  /**
   * Calls a model: the caller's choice, otherwise as configured in the tool's row of
   * `mcp_tool_models`.
   */
  readonly callModel: CallToolModel;
  /** Books usage of a model that the tool called itself, even if the call fails later. */
  usedModel(use: ModelUse): void;
}

/** Options of {@linkcode ToolContext.runAsCaller} and {@linkcode ToolContext.runAsOperator}. */
export interface RunAsCallerOptions {
  /** @default true */
  readonly isReadOnly?: boolean;
  /** @default the rest of the call's own time */
  readonly statementTimeoutMs?: number;
  /** Further settings of the transaction, by name; never the role or the claims. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A tool's annotations, as defined by the protocol. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

interface ToolSpec<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /**
   * The version in the catalog key `name@version`: numbers separated by dots. A server may have
   * several versions of a tool; the newest one has the plain name.
   */
  readonly version: string;
  /** What to use instead, as a sentence that callers see. @default not deprecated */
  readonly deprecated?: string;
  /** Required scopes, all of them; an empty list lets every signed-in user call it. */
  readonly scopes: readonly string[];
  readonly annotations: ToolAnnotations;
  /** An object. */
  readonly input: Input;
  /** Absent for a tool that returns only content blocks. */
  readonly output?: Output;
  /** Replaces the schema generated from `input` if zod cannot express it; `input` still parses. */
  readonly inputSchema?: JsonObject;
  /** The part of the arguments, checked or not, that the ledger may store. @default all of them */
  recordedArguments?(args: JsonObject): JsonObject;
  /**
   * Returns the structured output, a {@linkcode reply}, an {@linkcode inputRequired}, or a
   * `SwarmError`, which may also be thrown. Any other exception becomes `INTERNAL`.
   */
  run(args: z.output<Input>, context: ToolContext): Promise<ToolResult<z.input<Output>>>;
}

/** The possible results of a tool's `run`. */
export type ToolResult<Output> = Output | ToolReply | InputRequired | SwarmError;

/** A tool of an internal server. */
export interface InternalTool {
  readonly definition: ToolDefinition;
  readonly scopes: readonly string[];
  /** Null if the tool is not deprecated; otherwise what to use instead. */
  readonly deprecated: string | null;
  readonly input: z.ZodType;
  readonly output: z.ZodType | null;
  recordedArguments(args: JsonObject): JsonObject;
  run(args: unknown, context: ToolContext): Promise<unknown>;
}

/** Declares a tool; its JSON Schemas are generated from zod. */
export function defineTool<Input extends z.ZodType, Output extends z.ZodType = z.ZodNever>(
  spec: ToolSpec<Input, Output>,
): InternalTool {
  const { name, title, version, annotations, input, output, scopes, deprecated = null } = spec;
  return {
    definition: {
      name,
      title,
      description: deprecated === null
        ? spec.description
        : `${spec.description} Deprecated: ${deprecated}`,
      version,
      annotations,
      inputSchema: spec.inputSchema ?? toSchema(input, "input"),
      ...(output === undefined ? {} : { outputSchema: toSchema(output, "output") }),
    },
    scopes,
    deprecated,
    input,
    output: output ?? null,
    recordedArguments: (args) => spec.recordedArguments?.(args) ?? args,
    run: (args, context) => spec.run(args as z.output<Input>, context),
  };
}

function toSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  return z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    // The format already says it in one word.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
    },
  }) as JsonObject;
}

/** A result with explicit blocks, an error that the tool reports itself, or a `_meta`. */
export class ToolReply {
  constructor(readonly content: readonly ContentBlock[], readonly options: ReplyOptions = {}) {}
}

/** What a {@linkcode reply} carries in addition to its blocks. */
export interface ReplyOptions {
  /** Validated against `output`, unless `isError`. */
  readonly structured?: JsonObject;
  readonly isError?: boolean;
  /** A stable code for the error, in addition to the structured content; only with `isError`. */
  readonly errorCode?: ErrorCode;
  /** The next step; only with `errorCode`; include it in the blocks as well. */
  readonly hint?: string;
  /** Machine-readable details of the error; only with `errorCode`. */
  readonly details?: JsonValue;
  readonly meta?: JsonObject;
}

/** Returns these blocks. */
export function reply(content: readonly ContentBlock[], options?: ReplyOptions): ToolReply {
  return new ToolReply(content, options);
}

/** A request for input from the caller. */
export class InputRequired {
  constructor(readonly inputRequests: JsonObject, readonly requestState?: string) {}
}

/**
 * Asks the caller for input before the tool or prompt continues. A caller without the required
 * capabilities gets `TOOL_ASKS_MORE`; see `context.inputCapabilities`.
 *
 * @param inputRequests By key: `{method: "elicitation/create", params: {message, requestedSchema}}`.
 * @param requestState Returned with the answers through the client, so sign it.
 */
export function inputRequired(inputRequests: JsonObject, requestState?: string): InputRequired {
  return new InputRequired(inputRequests, requestState);
}

/** A resource of an internal server with a fixed URI. */
export interface InternalResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly scopes: readonly string[];
  read(context: ToolContext): Promise<readonly ResourceContents[]>;
}

/** Resources of an internal server with a URI template. */
export interface InternalResourceTemplate {
  /** With `{name}` for each variable: `test://template/{id}/data`. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly scopes: readonly string[];
  /** @returns null when there is no such resource. */
  read(
    uri: string,
    variables: Readonly<Record<string, string>>,
    context: ToolContext,
  ): Promise<readonly ResourceContents[] | null>;
}

/** A message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

/** A prompt of an internal server. */
export interface InternalPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly scopes: readonly string[];
  get(
    args: Readonly<Record<string, string>>,
    context: ToolContext,
  ): Promise<readonly PromptMessage[] | InputRequired>;
}

/** What a completion is requested for, as in the protocol's `completion/complete`. */
export interface CompletionRequest {
  /** A prompt's name or a resource template. */
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  readonly argument: string;
  /** What has been typed so far. */
  readonly value: string;
}

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

/**
 * A tool server that is part of the product: `shared/servers/<name>/server.ts` exports it as
 * `<name in camel case>Server`.
 */
export interface InternalServer {
  /** The folder's name, as in `config.server` of a tool. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** How to use the server, for the client's model. */
  readonly instructions?: string;
  /** @default the product's own */
  readonly version?: string;
  /** Additional information for clients besides name and capabilities. */
  readonly metadata?: JsonObject;
  readonly tools: readonly InternalTool[];
  /** Its tools work only inside a task and are hidden from other callers. */
  readonly isForTasksOnly?: boolean;
  readonly resources?: readonly InternalResource[];
  readonly resourceTemplates?: readonly InternalResourceTemplate[];
  readonly prompts?: readonly InternalPrompt[];
  /** True if its tools call {@linkcode ToolContext.logForCaller}. */
  readonly logsForCallers?: boolean;
  /** Suggests values of an argument of a prompt or a resource template, the best first. */
  complete?(request: CompletionRequest, context: ToolContext): Promise<readonly string[]>;
}

/** Internal servers by folder name, each loaded on first use. */
export type InternalServers = Readonly<Record<string, () => Promise<InternalServer>>>;
