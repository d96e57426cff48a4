import { z } from "../../vendor/zod.js";
import { canonicalJson } from "../../platform/values/canonical_json.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";

/** Maximum requested timeout of a statement; the policy may allow less. */
const MAX_TIMEOUT_MS = 120_000;

/** Arguments of `execute_sql`. */
export const statementRequest = z.strictObject({
  sql: z.string().describe("One SQL statement; parameters are $1, $2 …"),
  params: z.array(jsonValue).max(100).default([]).describe("Values of the parameters, in order"),
  dry_run: z.boolean().default(true).describe("Only plan the statement and show what it would do"),
  read_only: z.boolean().default(true).describe("Reject writes; false for a confirmed write"),
  confirmation_token: z.string().max(200).nullable().default(null)
    .describe("The token from the dry run of exactly this statement; required to write"),
  explain: z.boolean().default(false).describe("Add the plan to the rows"),
  export: z.enum(["csv", "json"]).nullable().default(null).describe(
    "Store all rows of a read in one of your files, beyond the row limit of an answer",
  ),
  timeout: z.number().min(1).max(MAX_TIMEOUT_MS).default(30_000).describe("Milliseconds"),
});

/** Parsed arguments of `execute_sql`. */
export type StatementRequest = z.output<typeof statementRequest>;

const columnSchema = z.object({ name: z.string(), type: z.string() });

/** The result of `execute_sql`, including errors, because some clients validate those as well. */
export const statementAnswer = z.object({
  statement_class: z.enum(["read", "write", "ddl", "forbidden", "multi", "invalid"]),
  dry_run: z.boolean(),
  statement: z.string().optional().describe("The statement, without surrounding text"),
  tables: z.array(z.string()).optional(),
  findings: z.array(z.object({
    reason: z.string(),
    position: z.int().nullable().describe("Index into the text"),
    fragment: z.string().nullable(),
  })).optional().describe("Why the statement is refused, or is more than a read"),
  columns: z.array(columnSchema).optional(),
  rows: z.array(z.array(jsonValue)).optional().describe("Values in the order of the columns"),
  row_count: z.int().optional(),
  is_truncated: z.boolean().optional().describe(
    "True if there are more rows than the answer contains",
  ),
  affected_rows: z.int().optional(),
  estimated_rows: z.number().nullable().optional(),
  total_cost: z.number().nullable().optional(),
  plan: jsonValue.optional(),
  file: z.object({
    bucket: z.string(),
    path: z.string(),
    format: z.enum(["csv", "json"]),
    size_bytes: z.int(),
    url: z.string().describe("Everyone who has this link can read the file until it expires"),
    url_expires_at: z.string(),
  }).optional().describe("The exported file"),
  warnings: z.array(z.string()).optional(),
  proposed_migration: z.object({
    path: z.string().describe("Where to save the file in the project"),
    content: z.string(),
  }).optional().describe("The migration for a definition that the caller cannot run; not stored"),
  confirmation_id: z.string().optional().describe("The id for approve_statement()"),
  confirmation_token: z.string().optional(),
  expires_at: z.string().optional(),
  needs_approval: z.boolean().optional(),
  max_affected_rows: z.int().optional().describe("More changed rows are rolled back"),
  next_call: z.record(z.string(), jsonValue).optional()
    .describe("Exact arguments that run what a dry run has shown"),
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
    sqlstate: z.string().optional(),
    position: z.int().nullable().optional().describe("Index into the statement"),
    fragment: z.string().nullable().optional(),
    detail: z.string().optional(),
    nearest_names: z.array(z.string()).optional(),
    missing: z.array(z.string()).optional(),
    missing_scopes: z.array(z.string()).optional(),
  }).optional(),
});

/** The arguments of a request that differ from their defaults, for `next_call`. */
export function runArguments(request: StatementRequest): JsonObject {
  const defaults = statementRequest.parse({ sql: "" });
  const given = Object.entries(request).filter(([name, value]) =>
    canonicalJson(value) !== canonicalJson(Reflect.get(defaults, name))
  );
  return { ...Object.fromEntries(given), dry_run: false };
}

/** {@linkcode runArguments} of a write. */
export function writeArguments(request: StatementRequest): JsonObject {
  return { ...runArguments(request), read_only: false };
}

/** The structured content of an answer. */
export type StatementAnswer = z.input<typeof statementAnswer>;
