import type { TransactionSql } from "../../../../vendor/postgres.js";
import { z } from "../../../../vendor/zod.js";
import type { Sql } from "../../../../platform/db/sql_client.ts";
import { errorField } from "../../../../platform/db/error_field.ts";
import { toSwarmError } from "../../../../platform/db/to_swarm_error.ts";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../../platform/values/json.ts";
import { jsonObject } from "../../../../platform/values/json_schema.ts";
import { ANSWER_LIMITS } from "../../../../platform/json/json_limits.ts";
import { claimsOfCall } from "../../../tool_contracts/tool_caller.ts";
import { textBlock } from "../../../../platform/values/content_block.ts";
import { exactStructure } from "../../../tool_contracts/exact_structure.ts";
import { withDeadline } from "../../../../platform/values/with_deadline.ts";
import { runAsUser } from "../../../../platform/db/run_as_user.ts";
import type { DatabaseFunctionConfig } from "../../../tool_contracts/tool_config.ts";
import type { ToolDefinition } from "../../../tool_contracts/tool_definition.ts";
import type { ServerAnswer, ServerCall, ToolServer } from "../../../tool_contracts/tool_server.ts";

interface DatabaseFunctionOptions {
  readonly description: string | null;
  readonly config: DatabaseFunctionConfig;
  readonly sql: Sql;
}

/** Maximum rows that one call of a set-returning function returns; a note reports truncation. */
const MAX_ROWS = 1_000;
/** How much longer to wait than the database's own timeout, whose error is more specific. */
const STATEMENT_TIMEOUT_GRACE_MS = 1_000;

/**
 * A database function as a server with one tool. It runs as the caller, on a separate login with
 * the caller's role and claims, so row level security applies; read-only unless the function is
 * volatile.
 */
export function openDatabaseFunction(options: DatabaseFunctionOptions): ToolServer {
  return {
    listTools: async () => ({ tools: [await describe(options)], dropped: [] }),
    callTool: (call, signal) => callFunction(options, call, signal),
  };
}

const descriptionSchema = z.object({
  name: z.string(),
  description: z.string().nullable(),
  is_read_only: z.boolean(),
  input_schema: jsonObject,
});

async function describe({ sql, config, description }: DatabaseFunctionOptions) {
  const [row] = await fromCatalog(sql`
    select private.describe_tool_function(${config.function}) as described`);
  const found = descriptionSchema.parse(row?.described);
  const definition: ToolDefinition = {
    name: found.name,
    description: description ?? found.description ?? `Calls the database function ${found.name}.`,
    inputSchema: found.input_schema,
    annotations: { readOnlyHint: found.is_read_only, idempotentHint: found.is_read_only },
  };
  return definition;
}

async function callFunction(
  options: DatabaseFunctionOptions,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { userId, tokenClaims } = call.caller;
  if (userId === null) throw callerRequired(options.config.function);
  const { statement, returns_set: returnsSet } = await statementFor(options, call.arguments);
  const isReadOnly = call.definition.annotations?.readOnlyHint === true;
  try {
    const timed = await withDeadline(
      call.timeoutMs + STATEMENT_TIMEOUT_GRACE_MS,
      signal,
      (deadline) =>
        runAsUser(
          options.sql,
          {
            userId,
            ...definedOnly({ tokenClaims }),
            claims: claimsOfCall(call.caller),
            signal: deadline,
            isReadOnly,
            statementTimeoutMs: call.timeoutMs,
          },
          (transaction) => callAsUser(transaction, statement, call.arguments),
        ),
    );
    if (timed.kind === "done") return toAnswer(timed.value, returnsSet);
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    return answerOfError(options.config.function, error);
  }
  const message = `${options.config.function} did not respond within ${call.timeoutMs} ms`;
  return { kind: "lost", cause: "timeout", message };
}

const functionStatementSchema = z.object({ statement: z.string(), returns_set: z.boolean() });
type FunctionStatement = z.infer<typeof functionStatementSchema>;

async function statementFor(
  { sql, config }: DatabaseFunctionOptions,
  args: JsonObject,
): Promise<FunctionStatement> {
  const [row] = await fromCatalog(sql`
    select
      private.tool_function_statement(
        p_function => ${config.function},
        p_arguments => ${sql.json(args)},
        p_max_rows => ${MAX_ROWS + 1}
      ) as statement,
      (
        select function.proretset from pg_catalog.pg_proc as function
        where function.oid = private.find_tool_function(${config.function})
      ) as returns_set`);
  return functionStatementSchema.parse(row);
}

/** The function has not run yet, so every failure is a plain error. */
async function fromCatalog<T>(query: PromiseLike<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw toSwarmError(error, "look up the database function");
  }
}

/**
 * The database builds the statement from its catalog with every name quoted; values are `$1`. It
 * runs inside a function in which PostgreSQL does not permit a role change.
 */
async function callAsUser(
  transaction: TransactionSql,
  statement: string,
  args: JsonObject,
): Promise<string[]> {
  // As text: a result is measured before it is parsed, and a result that is too large stays in the
  // database.
  const rows = await transaction<{ result: string | null; byte_count: string }[]>`
    select case when byte_count <= ${ANSWER_LIMITS.bytes}::bigint then result end as result, byte_count
    from (
      select result, sum(octet_length(result)) over () as byte_count
      from (
        select coalesce(result, 'null')::text as result
        from private.call_as_caller(${statement}, ${transaction.json(args)}) as result
      ) as answered
    ) as counted`;
  return rows.map(({ result, byte_count: byteCount }) => {
    // The transaction is rolled back.
    if (result === null) throw resultTooLarge(Number(byteCount));
    return result;
  });
}

/** A set is always an array, so that a caller can rely on its shape. */
function toAnswer(rows: readonly string[], returnsSet: boolean): ServerAnswer {
  const shown = rows.slice(0, MAX_ROWS);
  const json = returnsSet ? `[${shown.join(",")}]` : rows[0] ?? "null";
  const notice = rows.length > MAX_ROWS ? `\n(cut: only the first ${MAX_ROWS} rows are shown)` : "";
  const { structured, content } = exactStructure(json);
  const noticed = notice === "" ? [] : [textBlock(notice)];
  // The text of the database has the numbers as they are.
  const isCompact = structured !== undefined && content === undefined;
  return {
    kind: "answered",
    text: (isCompact ? JSON.stringify(structured) : json) + notice,
    ...definedOnly({ structured }),
    ...(content === undefined ? {} : { content: [...content, ...noticed] }),
    isError: false,
  };
}

function resultTooLarge(byteCount: number): SwarmError {
  return new SwarmError(
    "OUTPUT_TOO_LARGE",
    `Cannot return the result of the database function: it has ${byteCount} bytes of JSON, but ` +
      `the limit is ${ANSWER_LIMITS.bytes}; nothing was changed`,
    { hint: "Request less data, or save large data in Storage." },
  );
}

/** A PostgreSQL error is the function's answer; a broken connection is not. */
function answerOfError(name: string, error: unknown): ServerAnswer {
  const code = errorField(error, "code") ?? "";
  if (!/^[0-9A-Z]{5}$/.test(code) || code.startsWith("08") || code.startsWith("57P")) {
    return {
      kind: "lost",
      cause: "connection",
      message: `The database connection broke during ${name}`,
    };
  }
  if (code === "57014") {
    // The database stopped it and rolled it back, so it had no effect.
    throw new SwarmError("TOOL_TIMEOUT", `The database function ${name} took too long`, {
      hint: "Request less data, or raise timeout_ms in the tool's config.",
    });
  }
  const lines = [
    `${name} failed: ${errorField(error, "message") ?? "unknown error"} (SQLSTATE ${code})`,
    errorField(error, "detail"),
    errorField(error, "hint"),
  ];
  const isRefused = code === "42501";
  return {
    kind: "answered",
    text: lines.filter((line) => line !== undefined).join("\n"),
    isError: true,
    errorCode: isRefused ? "TOOL_FORBIDDEN" : "TOOL_FAILED",
    ...(code === "42883" || code === "PT422" ? { isDefinitionStale: true } : {}),
  };
}

function callerRequired(name: string): SwarmError {
  return new SwarmError(
    "CALLER_REQUIRED",
    `Cannot call ${name}: it runs with a user's rights, and this call has no user`,
    { hint: "Create the task as a signed-in user, or call on behalf of one." },
  );
}
