import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { FilePorts } from "./attach_files.ts";

const fileRow = z.object({
  path: z.string(),
  media_type: z.string(),
  size_bytes: z.number(),
});

/** Queries which files a task may read. */
export function createFileDescriber(sql: Sql): FilePorts["describeFiles"] {
  return async (paths, ownerId) => {
    try {
      const rows = await sql`
        select path, media_type, coalesce(size_bytes, 0)::float8 as size_bytes
        from private.describe_files(${sql.json([...paths])}, ${ownerId})`;
      return fileRow.array().parse([...rows]).map(({ path, media_type, size_bytes }) => (
        { path, mediaType: media_type, bytes: size_bytes }
      ));
    } catch (error) {
      throw toSwarmError(error, "read the files of the task");
    }
  };
}
