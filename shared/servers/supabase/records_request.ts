import { z } from "../../vendor/zod.js";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { toolError } from "./tool_failure.ts";

/** Maximum number of records in one call; the policy's max_affected_rows may be lower. */
const MAX_RECORDS = 5_000;

/** Arguments of `add_records`. */
export const recordsRequest = z.strictObject({
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
export type RecordsRequest = z.output<typeof recordsRequest>;

/** The result of `add_records`, including errors. */
export const recordsAnswer = z.object({
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
export type RecordsAnswer = z.input<typeof recordsAnswer>;
