import { z } from "zod";
import type { JsonObject, JsonValue } from "../../../json.ts";
import { readText } from "../../../net/read_text.ts";
import type { ToolDefinition } from "../../../tools/tool_definition.ts";
import type { ServerAnswer, ServerCall } from "../../../tools/tool_server.ts";
import type { InternalContext, InternalServer } from "../../internal_server.ts";

/** Most of a stored file that one call returns. */
const MAX_FILE_BYTES = 1024 * 1024;

const dataArguments = z.object({ task_id: z.guid(), key: z.string().min(1) });
const fileArguments = z.object({ path: z.string().min(1) });

const tools: readonly ToolDefinition[] = [
  {
    name: "list_artifacts",
    description:
      "Lists what the tasks of this job have stored so far: keys of intermediate data with their " +
      "size, and paths of files.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, idempotentHint: true },
  },
  {
    name: "read_data",
    description: "Reads one value of intermediate data that a task of this job has saved.",
    inputSchema: toInputSchema(dataArguments),
    annotations: { readOnlyHint: true, idempotentHint: true },
  },
  {
    name: "read_file",
    description: "Reads a text file that a task of this job has stored, by its path.",
    inputSchema: toInputSchema(fileArguments),
    annotations: { readOnlyHint: true, idempotentHint: true },
  },
];

/** Lets an agent find and read what the other tasks of its own job have stored. */
export const artifactsServer: InternalServer = {
  name: "artifacts",
  listTools: () => tools,
  async callTool(call, context) {
    const taskId = call.caller.taskId;
    if (taskId === null) return failed("Artifacts belong to a job: call this from within a task.");
    switch (call.definition.name) {
      case "list_artifacts":
        return await listArtifacts(taskId, context);
      case "read_data":
        return await readData(taskId, call, context);
      case "read_file":
        return await readFile(taskId, call, context);
      default:
        return failed(`There is no tool '${call.definition.name}'.`);
    }
  },
};

async function listArtifacts(taskId: string, { sql }: InternalContext): Promise<ServerAnswer> {
  const [row] = await sql<{ tasks: JsonValue }[]>`
    select private.list_job_artifacts(${taskId}) as tasks`;
  return answered({ tasks: row?.tasks ?? [] });
}

async function readData(
  taskId: string,
  call: ServerCall,
  { sql }: InternalContext,
): Promise<ServerAnswer> {
  const { task_id: ownerId, key } = dataArguments.parse(call.arguments);
  const [row] = await sql<{ value: JsonValue }[]>`
    select private.read_job_data(${taskId}, ${ownerId}, ${key}) as value`;
  return row === undefined || row.value === null
    ? failed(`No task ${ownerId} of this job has data under '${key}'. Use list_artifacts.`)
    : answered({ value: row.value });
}

async function readFile(
  taskId: string,
  call: ServerCall,
  context: InternalContext,
): Promise<ServerAnswer> {
  const { path } = fileArguments.parse(call.arguments);
  const [row] = await context.sql<{ is_job_file: boolean }[]>`
    select private.is_job_file(${taskId}, ${path}) as is_job_file`;
  if (row?.is_job_file !== true) {
    return failed(`No task of this job has stored '${path}'. Use list_artifacts.`);
  }
  const object = path.split("/").map(encodeURIComponent).join("/");
  const response = await fetch(
    `${context.supabaseUrl}/storage/v1/object/supaswarm-data/${object}`,
    {
      headers: { apikey: context.secretKey, authorization: `Bearer ${context.secretKey}` },
      signal: context.signal,
      redirect: "error",
    },
  );
  if (!response.ok) {
    await response.body?.cancel();
    return failed(`The file '${path}' cannot be read now (HTTP ${response.status}).`);
  }
  const { text, isCut } = await readText(response, MAX_FILE_BYTES);
  const notice = isCut ? `\n(cut: only the first ${MAX_FILE_BYTES} bytes are shown)` : "";
  return { kind: "answered", text: text + notice, isError: false };
}

function toInputSchema(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema) as JsonObject;
}

function answered(structured: JsonObject): ServerAnswer {
  return { kind: "answered", text: JSON.stringify(structured), structured, isError: false };
}

function failed(text: string): ServerAnswer {
  return { kind: "answered", text, isError: true };
}
