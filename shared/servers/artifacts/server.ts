import { z } from "../../vendor/zod.js";
import { textBlock } from "../../platform/values/content_block.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import {
  defineTool,
  type InternalServer,
  reply,
  type ToolContext,
} from "../../gateway/tool_contracts/internal_server.ts";
import { MAX_FILE_BYTES, readStoredFile } from "../read_stored_file.ts";

const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const listArtifacts = defineTool({
  name: "list_artifacts",
  title: "List artifacts",
  description:
    "Lists what the tasks of this job have stored so far: keys and sizes of intermediate data, " +
    "and paths of files.",
  version: "1",
  scopes: [],
  annotations: READ_ONLY,
  input: z.strictObject({}),
  output: z.object({ tasks: jsonValue }),
  async run(_, context) {
    const taskId = taskOf(context);
    const [row] = await context.sql<{ tasks: JsonValue }[]>`
      select private.list_job_artifacts(${taskId}) as tasks`;
    return { tasks: row?.tasks ?? [] };
  },
});

const readData = defineTool({
  name: "read_data",
  title: "Read data",
  description: "Reads one value of intermediate data saved by a task of this job.",
  version: "1",
  scopes: [],
  annotations: READ_ONLY,
  input: z.object({ task_id: z.guid(), key: z.string().min(1).max(255) }),
  output: z.object({ value: jsonValue }),
  async run({ task_id: ownerId, key }, context) {
    const taskId = taskOf(context);
    const [row] = await context.sql<{ value: JsonValue }[]>`
      select private.read_job_data(
        p_task_id => ${taskId},
        p_owner_task_id => ${ownerId},
        p_key => ${key}
      ) as value`;
    return row === undefined || row.value === null
      ? failed(`No task ${ownerId} of this job has data under '${key}'. Use list_artifacts.`)
      : { value: row.value };
  },
});

const readFile = defineTool({
  name: "read_file",
  title: "Read file",
  description: "Reads a text file stored by a task of this job, by its path.",
  version: "1",
  scopes: [],
  annotations: READ_ONLY,
  input: z.object({ path: z.string().min(1).max(1_024) }),
  async run({ path }, context) {
    const taskId = taskOf(context);
    const [row] = await context.sql<{ is_job_file: boolean }[]>`
      select private.is_job_file(${taskId}, ${path}) as is_job_file`;
    return row?.is_job_file === true
      ? await readObject(path, context)
      : failed(`No task of this job has stored '${path}'. Use list_artifacts.`);
  },
});

/** Tools with which an agent finds and reads data that other tasks of its job have stored. */
export const artifactsServer: InternalServer = {
  name: "artifacts",
  title: "Artifacts",
  description:
    "Reads the intermediate data and files that the tasks of the agent's job have stored.",
  tools: [listArtifacts, readData, readFile],
  isForTasksOnly: true,
};

function taskOf({ caller }: ToolContext): string {
  if (caller.taskId !== null) return caller.taskId;
  throw new SwarmError("TOOL_FAILED", "Artifacts belong to a job: call this from within a task.");
}

async function readObject(path: string, context: ToolContext) {
  const { text, isCut } = await readStoredFile(path, context);
  const notice = isCut ? `\n(cut: only the first ${MAX_FILE_BYTES} bytes are shown)` : "";
  return reply([textBlock(text + notice)]);
}

function failed(text: string) {
  return reply([textBlock(text)], { isError: true });
}
