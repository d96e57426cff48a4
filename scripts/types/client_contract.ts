import { propertyName, schemaType } from "../../client/command/types/schema_type.ts";
import { INTERNAL_SERVERS } from "../../shared/app/internal_servers.ts";
import { createTaskRequest } from "../../shared/engine/tasks/create_task_request.ts";
import { executeRequest } from "../../shared/gateway/execute/execute_request.ts";
import { feedbackRequest } from "../../shared/gateway/feedback/feedback_request.ts";
import { newestDefinitions } from "../../shared/gateway/tools/kinds/internal/open_internal_server.ts";
import { z } from "../../shared/vendor/zod.js";
import type {
  ClientColumn,
  ClientFunction,
  ClientRelationship,
  ClientSchema,
  ClientTable,
} from "./client_schema.ts";
import type { ClosedSetRow } from "./closed_sets.ts";
import { labelsIn } from "./closed_sets.ts";

const BODIES = {
  "supaswarm-create-task": createTaskRequest,
  "mcp-execute": executeRequest,
  "mcp-feedback": feedbackRequest,
};

/** Functions whose rows the client describes more precisely than the catalogue. */
const RETURNS: Readonly<Record<string, string>> = { list_jobs: "JobSummary[]" };

/** Types of PostgreSQL whose JSON is not a text. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  bool: "boolean",
  float4: "number",
  float8: "number",
  int2: "number",
  int4: "number",
  int8: "number",
  json: "Json",
  jsonb: "Json",
  numeric: "number",
  void: "undefined",
};

/**
 * Writes the module of types that clients share with the platform: its schema for `supabase-js`, the
 * tools of its own servers, and the bodies of its edge functions.
 */
export async function clientContractSource(
  schema: ClientSchema,
  sets: readonly ClosedSetRow[],
): Promise<string> {
  const tables = schema.tables.filter(({ isView }) => !isView);
  const views = schema.tables.filter(({ isView }) => isView);
  return `
    import type { JobSummary } from "./jobs.ts";
    import type { Json, JsonObject } from "./json.ts";

    /**
     * What a signed-in user may read, write and call over the REST API, as a schema for
     * \`createClient<Database>()\` of \`supabase-js\`. A column that is missing is not granted.
     */
    export type PlatformSchema = {
      Tables: ${object(tables.map((table) => [table.name, tableType(table, sets)]))};
      Views: ${object(views.map((view) => [view.name, tableType(view, sets)]))};
      Functions: ${object(schema.functions.map((fn) => [fn.name, functionType(fn)]))};
      Enums: { [_ in never]: never };
      CompositeTypes: { [_ in never]: never };
    };

    /** The tools of the platform's own servers, by server and name. \`artifacts\` works only inside a task. */
    export interface PlatformTools ${object(await toolEntries())}

    /** The bodies of the platform's edge functions, by the name of the function. */
    export interface FunctionBodies ${object(bodyEntries())}
  `;
}

function tableType(table: ClientTable, sets: readonly ClosedSetRow[]): string {
  const typeOf = (column: ClientColumn) => {
    const set = sets.find(({ table_name, column_name }) =>
      table_name === table.name && column_name === column.name
    );
    const type = set === undefined
      ? jsonType(column.type)
      : labeled(labelsIn(set.definition), column);
    return column.isNullable ? `${type} | null` : type;
  };
  const columnsWith = (right: ClientColumn["rights"][number]) =>
    table.columns.filter(({ rights }) => rights.includes(right));
  const inserted = columnsWith("insert").map((column): Entry => [
    column.name,
    typeOf(column),
    column.isNullable || column.hasDefault,
  ]);
  const updated = columnsWith("update").map((column): Entry => [column.name, typeOf(column), true]);
  return object([
    ["Row", object(columnsWith("select").map((column) => [column.name, typeOf(column)]))],
    ["Insert", inserted.length === 0 ? "never" : object(inserted)],
    ["Update", updated.length === 0 ? "never" : object(updated)],
    ["Relationships", `[${table.relationships.map(relationshipType).join(", ")}]`],
  ]);
}

function labeled(labels: readonly string[], { type }: ClientColumn): string {
  const union = labels.map((label) => JSON.stringify(label)).join(" | ");
  return type.startsWith("_") ? `(${union})[]` : union;
}

function relationshipType(relationship: ClientRelationship): string {
  return object([
    ["foreignKeyName", JSON.stringify(relationship.name)],
    ["columns", JSON.stringify(relationship.columns)],
    ["isOneToOne", String(relationship.isOneToOne)],
    ["referencedRelation", JSON.stringify(relationship.target)],
    ["referencedColumns", JSON.stringify(relationship.targetColumns)],
  ]);
}

function functionType({ name, args, type, columns, returnsSet }: ClientFunction): string {
  const value = columns.length === 0
    ? jsonType(type)
    : object(columns.map((column) => [column.name, `${jsonType(column.type)} | null`]));
  return object([
    [
      "Args",
      args.length === 0
        ? "Record<PropertyKey, never>"
        : object(args.map((arg) => [arg.name, jsonType(arg.type), arg.isOptional])),
    ],
    ["Returns", RETURNS[name] ?? (returnsSet ? `(${value})[]` : value)],
  ]);
}

function jsonType(type: string): string {
  return type.startsWith("_") ? `${jsonType(type.slice(1))}[]` : JSON_TYPES[type] ?? "string";
}

async function toolEntries(): Promise<Entry[]> {
  const servers = await Promise.all(Object.values(INTERNAL_SERVERS).map((load) => load()));
  return servers.map((server) => [
    server.name,
    object(
      newestDefinitions(server).map(({ name, inputSchema, outputSchema }) => [
        name,
        object([["arguments", schemaType(inputSchema)], [
          "result",
          outputSchema === undefined ? "Json" : schemaType(outputSchema),
        ]]),
      ]),
    ),
  ]);
}

function bodyEntries(): Entry[] {
  return Object.entries(BODIES).map(([name, body]) => [
    name,
    schemaType(z.toJSONSchema(body, { io: "input", unrepresentable: "any" })),
  ]);
}

/** A property: its name, its type, and whether it may be missing. */
type Entry = readonly [name: string, type: string, isOptional?: boolean];

function object(entries: readonly Entry[]): string {
  const members = entries.map(([name, type, isOptional]) =>
    `${propertyName(name)}${isOptional === true ? "?" : ""}: ${type};`
  );
  return `{\n${members.join("\n")}\n}`;
}
