import { z } from "../../vendor/zod.js";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { modelChoice } from "./model_choice.ts";
import { toolError } from "./tool_failure.ts";

/** Maximum number of tables and views in one answer. */
const MAX_RELATIONS = 1_000;

/** Arguments of `generate_schema`. */
export const schemaRequest = z.strictObject({
  refresh_cache: z.boolean().default(false)
    .describe("Read the database again, for current row estimates and index use"),
  format: z.enum(["json", "markdown", "sql"]).default("markdown"),
  include_relationships: z.boolean().default(true)
    .describe("Include foreign keys and, in Markdown, a diagram of them"),
  ...modelChoice,
  analyze: z.boolean().default(true)
    .describe("Add a model's analysis; omitted if no model is available"),
  tables: z.array(z.string().min(1).max(200)).min(1).max(200).optional()
    .describe("Only these tables and views, as name or schema.name"),
  limit: z.int().min(1).max(MAX_RELATIONS).default(100).describe("Tables and views of one answer"),
  cursor: z.string().max(300).optional().describe("next_cursor of the previous answer"),
});

/** Parsed arguments of `generate_schema`. */
export type SchemaRequest = z.output<typeof schemaRequest>;

/** The result of `generate_schema`, including errors. */
export const schemaAnswer = z.object({
  format: schemaRequest.shape.format,
  tables_found: z.int().describe("Tables and views that you may use, on all pages"),
  schema_hash: z.string().nullable().describe(
    "SHA-256 of the structure; a different value means that it has changed",
  ),
  cached: z.boolean(),
  generated_at: z.string().nullable(),
  next_cursor: z.string().nullable().describe("null on the last page"),
  unknown_tables: z.array(z.string()).optional(),
  analysis: z.string().nullable(),
  analysis_note: z.string().nullable().describe("Why there is no analysis"),
  advisories: z.array(z.object({
    kind: z.string(),
    table: z.string(),
    object: z.string().nullable(),
    columns: z.array(z.string()),
    message: z.string(),
    fix: z.string().nullable().describe("A statement for a person to review"),
  })),
  tables: z.array(jsonValue).optional().describe("With format json"),
  views: z.array(jsonValue).optional(),
  relationships: z.array(jsonValue).optional(),
  enums: z.array(jsonValue).optional(),
  types: z.array(jsonValue).optional().describe("Domains, composite types and ranges"),
  functions: z.array(jsonValue).optional(),
  error: toolError.optional(),
});

/** The structured content of an answer. */
export type SchemaAnswer = z.input<typeof schemaAnswer>;
