import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { MAX_FILE_BYTES, readStoredFile } from "../read_stored_file.ts";
import { asOwner } from "../as_owner.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

/** Reads a value that a task saved with `save_intermediate_data`. */
export const readDataTool = defineTool({
  name: "read_data",
  title: "Read saved data",
  description: "Reads a value that a task has saved; data_keys of get_task lists the keys.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ task_id: z.guid(), key: z.string().min(1).max(255) }),
  output: z.object({ value: jsonValue }),
  async run({ task_id, key }, context) {
    const [row] = await asOwner(context, "read", (sql) =>
      sql`
      select task.intermediate_data -> ${key}::text as value,
        task.intermediate_data ? ${key}::text as is_there
      from public.tasks as task
      where task.id = ${task_id}::uuid`);
    if (row?.is_there === true) return { value: jsonValue.parse(row.value) };
    throw new SwarmError(
      "TASK_NOT_FOUND",
      `Cannot read the data: none of your tasks is ${task_id} with the key '${key}'`,
      {
        hint: "data_keys of get_task lists the keys.",
      },
    );
  },
});

/** Reads a file that a task stored. */
export const readFileTool = defineTool({
  name: "read_file",
  title: "Read a file",
  description: "Reads a text file that a task has stored; files of get_task lists the paths.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ path: z.string().min(1).max(1_024) }),
  output: z.object({
    text: z.string(),
    is_cut: z.boolean().describe(`Only the first ${MAX_FILE_BYTES} bytes are shown`),
  }),
  async run({ path }, context) {
    const [row] = await asOwner(context, "read", (sql) =>
      sql`
      select exists (
        select from public.tasks as task
        where task.id = ${taskOfPath(path)}::uuid and ${path}::text = any (task.storage_paths)
      )
      -- A fork refers to files of a task that may be gone.
      or exists (
        select from public.tasks as task where task.storage_paths @> array[${path}::text]
      ) as is_own`);
    if (row?.is_own !== true) {
      throw new SwarmError(
        "TASK_NOT_FOUND",
        `Cannot read the file: none of your tasks has stored '${path}'`,
        {
          hint: "files of get_task lists the paths.",
        },
      );
    }
    const { text, isCut } = await readStoredFile(path, context);
    return { text, is_cut: isCut };
  },
});

/** Files are stored at `{master_task_id}/{task_id}/{filename}`. */
function taskOfPath(path: string): string | null {
  const id = path.split("/")[1];
  return z.guid().safeParse(id).success ? id ?? null : null;
}
