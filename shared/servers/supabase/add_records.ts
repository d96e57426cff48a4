import { definedOnly } from "../../platform/values/defined_only.ts";
import { canonicalJson } from "../../platform/values/canonical_json.ts";
import { fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { textBlock } from "../../platform/values/content_block.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import {
  MAX_PROBLEMS,
  type PreparedRecords,
  prepareRecords,
} from "../sql/records/prepare_records.ts";
import {
  isNamed,
  isTable,
  qualifiedName,
  type SchemaRelation,
} from "../sql/schema/database_schema.ts";
import { quoteName, sqlName } from "../sql/schema/quote_name.ts";
import {
  defineTool,
  type InputRequired,
  reply,
  type ToolContext,
  type ToolReply,
} from "../../gateway/tool_contracts/internal_server.ts";
import { ApprovalRequired } from "../../gateway/tool_contracts/approval.ts";
import { assertAgentMayWrite, isByAgent } from "./agents_write.ts";
import { askToConfirm, isConfirmed } from "./confirmation_form.ts";
import { guardSettings } from "./guarded_transaction.ts";
import { checkReferences, insertRecords, recordsError } from "./insert_records.ts";
import { assertMayWriteTo } from "./missing_rights.ts";
import { type KnownSchema, knowSchema } from "./schema_cache.ts";
import { readSqlSettings, type SqlSettings } from "./sql_settings.ts";
import { READ_SCOPES, WRITE_SCOPES } from "./sql_scopes.ts";
import {
  answerOnce,
  type Confirmation,
  createConfirmation,
  writeOnce,
} from "./sql_confirmation.ts";
import { toolError, toolFailure } from "./tool_failure.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";
import { z } from "../../vendor/zod.js";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";

/** Maximum number of records in one call; the policy's max_affected_rows may be lower. */
const MAX_RECORDS = 5_000;

/** Arguments of `add_records`. */
const recordsRequest = z.strictObject({
  table: z.string().min(1).max(200).describe("A table's name, also as schema.name"),
  data: z.union([jsonObject, z.array(jsonObject).min(1).max(MAX_RECORDS)])
    .describe("One record; a list of records if bulk_insert is true"),
  validate_fields: z.boolean().default(true)
    .describe("Check and convert every value before writing"),
  bulk_insert: z.boolean().default(false).describe("data is a list; all are added or none"),
  dry_run: z.boolean().default(true).describe(
    "Only check the records and show what would be added",
  ),
  confirmation_token: z.string().max(200).nullable().default(null)
    .describe("The token from the dry run with exactly these records; required to write"),
  idempotency_key: z.string().min(1).max(200).optional()
    .describe("A second call with the same key and records returns the answer of the first"),
});

/** Parsed arguments of `add_records`. */
type RecordsRequest = z.output<typeof recordsRequest>;

/** The result of `add_records`, including errors. */
const recordsAnswer = z.object({
  statement_class: z.literal("write"),
  dry_run: z.boolean(),
  table: z.string(),
  record_count: z.int(),
  mapping: z.record(z.string(), z.string()).optional().describe("Columns by the fields of data"),
  preview: z.array(jsonObject).optional().describe("The first records as they would be written"),
  problems: z.array(z.object({
    record: z.int().nullable().describe("Number of the record, from 1; null for all records"),
    column: z.string().nullable(),
    message: z.string(),
  })).optional(),
  warnings: z.array(z.string()).optional(),
  affected_rows: z.int().optional(),
  confirmation_id: z.string().optional(),
  confirmation_token: z.string().optional(),
  expires_at: z.string().optional(),
  next_call: z.record(z.string(), jsonValue).optional().describe("Exact arguments that write"),
  error: toolError.optional(),
});

/** The structured content of an answer. */
type RecordsAnswer = z.input<typeof recordsAnswer>;

/** Records that a dry run shows. */
const PREVIEW_RECORDS = 5;
/** Problems listed in a message; the structured content has all of them. */
const MAX_NAMED_PROBLEMS = 20;

/** A call with its resolved table and records. */
interface RecordsCall {
  readonly request: RecordsRequest;
  readonly context: ToolContext;
  readonly settings: SqlSettings;
  readonly known: KnownSchema;
  readonly table: SchemaRelation;
  readonly prepared: PreparedRecords;
}

/** Adds records to a table as the caller, all or none, after their dry run was confirmed. */
export const addRecordsTool = defineTool({
  name: "add_records",
  title: "Add records",
  description:
    "Adds records to a table with your own rights. Fields are mapped to columns by name, spelling " +
    "or the column's comment, values are checked and converted, and all problems are reported " +
    "together. dry_run (the default) adds nothing; its next_call has the confirmation_token that " +
    "adds exactly these records once; an agent's next_call has no token, because its owner is asked.",
  version: "1",
  scopes: READ_SCOPES,
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  input: recordsRequest,
  output: recordsAnswer,
  async run(request, context) {
    try {
      return await addRecords(request, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof ApprovalRequired) throw error;
      const failure = recordsError(error);
      if (!(failure instanceof SwarmError)) throw error;
      const problems = isJsonObject(failure.details) ? failure.details.problems : undefined;
      return toolFailure(failure, {
        ...baseOf(request),
        ...definedOnly({ problems }),
      }, {});
    }
  },
});

async function addRecords(
  request: RecordsRequest,
  context: ToolContext,
): Promise<ToolReply | InputRequired> {
  if (request.confirmation_token !== null) context.keepFromLedger(request.confirmation_token);
  context.requireScopes(WRITE_SCOPES);
  const call = await prepare(request, context);
  if (request.dry_run) return succeeded(await dryRun(call));
  if (isByAgent(context)) return succeeded(await agentsWrite(call));
  const token = request.confirmation_token ??
    (isConfirmed(context) ? context.requestState : null);
  if (token !== null) return succeeded(await write(call, token));
  if (context.inputResponses !== null || !context.acceptsInput) throw missingToken();
  const shown = await dryRun(call);
  return askToConfirm(questionOf(shown), shown.confirmation_token ?? "");
}

/** @throws SwarmError `TOOL_ARGUMENTS_INVALID` naming every problem, `SQL_ROW_LIMIT_EXCEEDED`. */
async function prepare(request: RecordsRequest, context: ToolContext): Promise<RecordsCall> {
  const settings = await readSqlSettings(context.sql);
  const given = recordsOf(request);
  if (given.length > settings.max_affected_rows) {
    throw new SwarmError(
      "SQL_ROW_LIMIT_EXCEEDED",
      `Cannot add ${given.length} records: the SQL policy allows ${settings.max_affected_rows}`,
      { hint: "Send them in several calls." },
    );
  }
  const known = await knowSchema(context, settings);
  const table = tableOf(request.table, known);
  const prepared = prepareRecords(table, known.schema, given, request.validate_fields);
  return { request, context, settings, known, table, prepared };
}

function recordsOf({ data, bulk_insert: isBulk }: RecordsRequest): readonly JsonObject[] {
  if (Array.isArray(data) === isBulk) return (isBulk ? data : [data]) as JsonObject[];
  throw new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    isBulk
      ? "Cannot add the records: data is one record, but bulk_insert requires a list"
      : "Cannot add the records: data is a list, which requires bulk_insert",
    { hint: `Set bulk_insert to ${!isBulk}.` },
  );
}

function tableOf(name: string, { schema }: KnownSchema): SchemaRelation {
  const tables = schema.relations.filter(isTable);
  const found = tables.filter((table) => isNamed(table, name));
  const [table] = found;
  if (table !== undefined && found.length === 1) return table;
  const nearest = found.length > 1
    ? found.map(sqlName)
    : nearestNames(name, tables.map((table) => table.name)).map(quoteName);
  throw new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    found.length > 1
      ? `Cannot add records: there are several tables "${name}"`
      : `Cannot add records: you have no access to a table "${name}"`,
    {
      hint: nearest.length > 0
        ? `Name one of: ${nearest.join(", ")}.`
        : "generate_schema lists the tables.",
    },
  );
}

async function dryRun(call: RecordsCall): Promise<RecordsAnswer> {
  const shown = await show(call);
  if (!isByAgent(call.context)) return { ...shown, ...await offer(call) };
  return { ...shown, next_call: { ...call.request as unknown as JsonObject, dry_run: false } };
}

/** The platform confirms what a person or a rule has approved; the agent never has the token. */
async function agentsWrite(call: RecordsCall): Promise<RecordsAnswer> {
  const { context, request: { confirmation_token: token } } = call;
  const { dry_run: _, ...shown } = await show(call);
  assertAgentMayWrite(context, { token, needsApproval: false, shown: shown as JsonObject });
  return await write(call, (await offer(call)).confirmation_token);
}

async function show(call: RecordsCall): Promise<RecordsAnswer> {
  const { request, prepared: { mapping, records } } = call;
  const warnings = await check(call);
  return {
    ...baseOf(request),
    dry_run: true,
    table: qualifiedName(call.table),
    mapping: { ...mapping },
    preview: records.slice(0, PREVIEW_RECORDS).map((record) => ({ ...record })),
    problems: [],
    warnings: [...warnings],
  };
}

/**
 * Checks the caller's rights and the rows that the records refer to.
 *
 * @throws SwarmError `SQL_RIGHT_MISSING`, `TOOL_ARGUMENTS_INVALID`
 */
async function check(call: RecordsCall): Promise<readonly string[]> {
  const { context, settings, table, known, prepared: { records, problems } } = call;
  if (problems.length === 0) await assertMayAdd(call);
  const references = call.request.validate_fields && problems.length < MAX_PROBLEMS
    ? await context.runAsCaller(
      (sql) => checkReferences(sql, table, known.schema, records),
      { settings: guardSettings(settings) },
    )
    : { problems: [], warnings: [] };
  const all = [...problems, ...references.problems];
  if (all.length === 0) return references.warnings;
  const named = all.slice(0, MAX_NAMED_PROBLEMS).map(({ record, column, message }) =>
    [record === null ? null : `record ${record}`, column, message]
      .filter((part) => part !== null).join(": ")
  );
  const more = all.length - named.length;
  const atLeast = all.length < MAX_PROBLEMS ? "" : "at least ";
  throw new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    `Cannot add the records to ${sqlName(table)}: ${named.join(" ")}${
      more > 0 ? ` And ${atLeast}${more} more.` : ""
    }`,
    {
      hint: "Nothing was added. Correct the records and send them all again.",
      details: { problems: all.map((problem) => ({ ...problem })) },
    },
  );
}

/** Columns that every record sets need a right; those that some omit take their defaults. */
async function assertMayAdd({ context, table, prepared: { records } }: RecordsCall): Promise<void> {
  const { schema, name } = table;
  const counts = new Map<string, number>();
  for (const column of records.flatMap((record) => Object.keys(record))) {
    counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  const set = [...counts.keys()];
  const alwaysSet = set.filter((column) => counts.get(column) === records.length);
  await context.runAsCaller(async (sql) => {
    for (const columns of [set, alwaysSet]) {
      await assertMayWriteTo({ schema, name, command: "insert", columns }, sql);
    }
  });
}

async function offer(call: RecordsCall): Promise<Confirmation & Partial<RecordsAnswer>> {
  const { context, request, table, prepared: { records } } = call;
  const confirmation = await createConfirmation(context, {
    ...hashesOf(call),
    statement_class: "write",
    statement: shownStatement(call),
    tables: [qualifiedName(table)],
    estimated_rows: records.length,
    max_rows: records.length,
    needs_approval: false,
  });
  return {
    ...confirmation,
    next_call: {
      ...request as unknown as JsonObject,
      dry_run: false,
      confirmation_token: confirmation.confirmation_token,
    },
  };
}

/** Token, rows and answer commit in one transaction, as for every write. */
async function write(call: RecordsCall, token: string): Promise<RecordsAnswer> {
  const { context, request, settings, table, prepared: { mapping, records } } = call;
  const key = request.idempotency_key === undefined
    ? context.idempotencyKey
    : `caller:${request.idempotency_key}`;
  const confirmed = { context, token, hashes: hashesOf(call), key };
  return await answerOnce(confirmed, recordsAnswer, async () => {
    await check(call);
    return await context.runAsCaller((sql) =>
      writeOnce(sql, confirmed, async () => ({
        ...baseOf(request),
        dry_run: false,
        table: qualifiedName(table),
        mapping: { ...mapping },
        affected_rows: await insertRecords(sql, table, records),
      })), {
      isReadOnly: false,
      statementTimeoutMs: settings.statement_timeout_ms,
      settings: guardSettings(settings),
    });
  });
}

/** The hashes that the token is bound to: the table with its mapping, and the final records. */
function hashesOf({ table, prepared: { records } }: RecordsCall) {
  return {
    tree_hash: sha256Hex(canonicalJson({ tool: "add_records", table: qualifiedName(table) })),
    params_hash: sha256Hex(canonicalJson(records.map((record) => ({ ...record })))),
  };
}

function shownStatement({ table, prepared: { records, mapping } }: RecordsCall): string {
  const columns = [...new Set(Object.values(mapping))].join(", ");
  return `insert into ${sqlName(table)} (${columns}) -- ${records.length} records`;
}

function questionOf({ table, record_count: count, preview = [], warnings = [] }: RecordsAnswer) {
  const first = preview.map((record) => JSON.stringify(record));
  return [`Add ${count} records to ${table}?`, ...warnings, ...first].join("\n");
}

function missingToken(): SwarmError {
  return new SwarmError(
    "CONFIRMATION_REQUIRED",
    "Cannot add the records: the call lacks confirmation_token",
    {
      hint: "Send the records with dry_run: true first, then that answer's next_call.",
      details: { missing: ["confirmation_token"] },
    },
  );
}

function baseOf({ table, data, dry_run }: RecordsRequest): {
  readonly statement_class: "write";
  readonly dry_run: boolean;
  readonly table: string;
  readonly record_count: number;
} {
  return {
    statement_class: "write",
    dry_run,
    table,
    record_count: Array.isArray(data) ? data.length : 1,
  };
}

function succeeded(answer: RecordsAnswer): ToolReply {
  return reply([textBlock(fenceData(JSON.stringify(answer), "add_records"))], {
    structured: answer as unknown as JsonObject,
  });
}
