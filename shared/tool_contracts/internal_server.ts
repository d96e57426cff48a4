import type { Sql, TransactionSql } from "../vendor/postgres.js";
import { z } from "../vendor/zod.js";
import type { ContentBlock, ResourceContents } from "../content_block.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { SwarmError } from "../errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Logger } from "../log/logger.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { ToolCaller } from "./tool_caller.ts";
import type { StreamedText, ToolLogLevel } from "./tool_call.ts";
import type { CallToolModel } from "./tool_model.ts";
import type { ModelUse } from "./tool_server.ts";

/** What a tool, resource or prompt of an internal server works with, for one call. */
export interface ToolContext {
  /** As role postgres: for what the product itself keeps, never for what a caller asked to run. */
  readonly sql: Sql;
  readonly supabaseUrl: string;
  /** The project as browsers reach it: for addresses in an answer. */
  readonly publicUrl: string;
  /** Of the project; for the server's own requests, never for anything it answers. */
  readonly secretKey: string;
  /** For requests to other machines; refuses private addresses. */
  readonly fetch: typeof fetch;
  readonly log: Logger;
  /** With the owner of the task as its user, where there is a task. */
  readonly caller: ToolCaller;
  /** The row of `mcp_executions` that this call becomes. */
  readonly executionId: string;
  /** The same for every delivery of the same call. */
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  /** Aborted when the caller goes away or the time is up. */
  readonly signal: AbortSignal;
  /** Whether the caller can fill in a form that {@linkcode inputRequired} asks for. */
  readonly acceptsInput: boolean;
  /** All that the caller can be asked: of `elicitation`, `sampling` and `roots` what it declared. */
  readonly inputCapabilities: JsonObject;
  /** Answers to an earlier {@linkcode inputRequired}, with its state; the state is untrusted. */
  readonly inputResponses: JsonObject | null;
  readonly requestState: string | null;
  /** Tells the caller how far the call is; `done` has to grow. */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Sends the answer's text to the caller as it comes; null where nobody reads it before its end.
   * The answer still has the whole.
   */
  readonly streamText: ((text: Pick<StreamedText, "text"> & Partial<StreamedText>) => void) | null;
  /** Logs for the caller, where it wants that; only of a server with `logsForCallers`. */
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
   * Asks for scopes beyond the tool's own, by what its arguments turn out to be.
   *
   * @throws SwarmError `INSUFFICIENT_SCOPE` naming those that the caller lacks.
   */
  requireScopes(scopes: readonly string[]): void;
  /**
   * Names a value of the arguments or the answer that nothing may store: it is replaced in the
   * ledger, the steps of a task and what is broadcast of them, and stays in the answer.
   */
  keepFromLedger(value: string): void;
  /** Calls a model: the caller's choice, else the tool's row of `mcp_tool_models`. */
  readonly callModel: CallToolModel;
  /** Books a model that the tool asked by itself on the call, whatever comes of it. */
  usedModel(use: ModelUse): void;
}

/** How {@linkcode ToolContext.runAsCaller} runs. */
export interface RunAsCallerOptions {
  /** @default true */
  readonly isReadOnly?: boolean;
  /** @default what is left of the call's own time */
  readonly statementTimeoutMs?: number;
}

/** What a tool says of itself, in the protocol's words. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** What {@linkcode defineTool} takes. */
export interface ToolSpec<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /**
   * Of the catalogue key `name@version`: numbers, with dots between them. A server may have several
   * versions of a tool; the newest one has the plain name.
   */
  readonly version: string;
  /** What to use instead, as a sentence; its callers are told. @default in use */
  readonly deprecated?: string;
  /** All of them are needed; none: every signed-in user may call it. */
  readonly scopes: readonly string[];
  readonly annotations: ToolAnnotations;
  /** An object. */
  readonly input: Input;
  /** Absent for a tool that answers in blocks only. */
  readonly output?: Output;
  /** Instead of what is made from `input`, where zod cannot say it; `input` still parses. */
  readonly inputSchema?: JsonObject;
  /** Of the arguments, checked or not, what the ledger may hold. @default all of them */
  recordedArguments?(args: JsonObject): JsonObject;
  /**
   * Gives the structured output, a {@linkcode reply}, an {@linkcode inputRequired}, or a
   * `SwarmError`, which may be thrown as well. Anything else that is thrown is `INTERNAL`.
   */
  run(args: z.output<Input>, context: ToolContext): Promise<ToolResult<z.input<Output>>>;
}

/** What a tool's `run` can give. */
export type ToolResult<Output> = Output | ToolReply | InputRequired | SwarmError;

/** A tool of an internal server. */
export interface InternalTool {
  readonly definition: ToolDefinition;
  readonly scopes: readonly string[];
  /** Null while it is in use; else what to use instead. */
  readonly deprecated: string | null;
  readonly input: z.ZodType;
  readonly output: z.ZodType | null;
  recordedArguments(args: JsonObject): JsonObject;
  run(args: unknown, context: ToolContext): Promise<unknown>;
}

/** Declares a tool; its schemas are made from zod. */
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
    // The format says it in one word.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
    },
  }) as JsonObject;
}

/** Explicit blocks, an error that the tool reports itself, or a `_meta`. */
export class ToolReply {
  constructor(
    readonly content: readonly ContentBlock[],
    readonly options: ReplyOptions = {},
  ) {}
}

/** What a {@linkcode reply} carries beside its blocks. */
export interface ReplyOptions {
  /** Validated against `output`, unless `isError`. */
  readonly structured?: JsonObject;
  readonly isError?: boolean;
  /** A stable code for the error, beside the structured content; only with `isError`. */
  readonly errorCode?: ErrorCode;
  /** What to do next; only with `errorCode`, and it belongs in the blocks, too. */
  readonly hint?: string;
  /** Of the error, for programs; only with `errorCode`. */
  readonly details?: JsonValue;
  readonly meta?: JsonObject;
}

/** Answers with these blocks. */
export function reply(content: readonly ContentBlock[], options?: ReplyOptions): ToolReply {
  return new ToolReply(content, options);
}

/** A question back to the caller. */
export class InputRequired {
  constructor(readonly inputRequests: JsonObject, readonly requestState?: string) {}
}

/**
 * Asks the caller before the tool or prompt goes on. A caller that cannot be asked what this asks
 * gets `TOOL_ASKS_MORE`; see `context.inputCapabilities`.
 *
 * @param inputRequests By key: `{method: "elicitation/create", params: {message, requestedSchema}}`.
 * @param requestState Comes back with the answers, through the client: sign it.
 */
export function inputRequired(inputRequests: JsonObject, requestState?: string): InputRequired {
  return new InputRequired(inputRequests, requestState);
}

/** A resource of an internal server, by a fixed address. */
export interface InternalResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly scopes: readonly string[];
  read(context: ToolContext): Promise<readonly ResourceContents[]>;
}

/** Resources of an internal server, by addresses of one form. */
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

/** What a value is wanted for, as the protocol's `completion/complete` has it. */
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
  /** The folder's name, which `config.server` of a tool names. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** How to use the server, for the client's model. */
  readonly instructions?: string;
  /** @default the product's own */
  readonly version?: string;
  /** What clients are shown of it beside name and capabilities. */
  readonly metadata?: JsonObject;
  readonly tools: readonly InternalTool[];
  /** Its tools work inside a task alone: nobody else is shown them. */
  readonly isForTasksOnly?: boolean;
  readonly resources?: readonly InternalResource[];
  readonly resourceTemplates?: readonly InternalResourceTemplate[];
  readonly prompts?: readonly InternalPrompt[];
  /** Tools call {@linkcode ToolContext.logForCaller}. */
  readonly logsForCallers?: boolean;
  /** Suggests values of an argument of a prompt or a resource template, the best first. */
  complete?(request: CompletionRequest, context: ToolContext): Promise<readonly string[]>;
}

/** Internal servers by folder name, each loaded when it is first needed. */
export type InternalServers = Readonly<Record<string, () => Promise<InternalServer>>>;
