import { z } from "../vendor/zod.js";
import type { Sql } from "../platform/db/sql_client.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import type { ArtifactStorageOptions } from "../engine/worker/artifact_storage.ts";
import { type DeletedFiles, removeDeletedFiles } from "../engine/worker/remove_deleted_files.ts";

const BUCKET = "supaswarm-data";
const TIMEOUT_MS = 15_000;
const pathsRow = z.tuple([z.object({ paths: z.array(z.string()) })]);

/**
 * Creates the function that removes the files of deleted jobs, once per isolate.
 *
 * @throws STORAGE_UNAVAILABLE, DATABASE_UNAVAILABLE; the next call retries.
 */
export function createFileRemover(
  sql: Sql,
  storage: ArtifactStorageOptions,
): () => Promise<number> {
  let removed: Promise<number> | null = null;

  return () => {
    removed ??= removeDeletedFiles(createDeletedFiles(sql, storage)).catch((error) => {
      removed = null;
      throw error;
    });
    return removed;
  };
}

/** The list in `private.deleted_files`, and the Storage API that removes the files. */
function createDeletedFiles(sql: Sql, storage: ArtifactStorageOptions): DeletedFiles {
  return {
    async list(limit) {
      try {
        const rows = await sql`select private.files_to_remove(${limit}::int) as paths`;
        return pathsRow.parse([...rows])[0].paths;
      } catch (error) {
        throw toSwarmError(error, "list the files of deleted jobs");
      }
    },

    async remove(paths) {
      const response = await fetch(`${storage.url}/storage/v1/object/${BUCKET}`, {
        method: "DELETE",
        headers: {
          apikey: storage.secretKey,
          authorization: `Bearer ${storage.secretKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ prefixes: paths }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((cause) => {
        throw unavailable("Storage does not respond", cause);
      });
      await response.body?.cancel();
      if (!response.ok) throw unavailable(`Storage responded with ${response.status}`);
    },

    async deleteRecords(paths) {
      try {
        await sql`select private.delete_removed_files(${sql.json([...paths])})`;
      } catch (error) {
        throw toSwarmError(error, "record the removal of files");
      }
    },
  };
}

function unavailable(problem: string, cause?: unknown): SwarmError {
  return new SwarmError("STORAGE_UNAVAILABLE", `Cannot remove files: ${problem}`, {
    cause,
    hint: "They stay in private.deleted_files; the next worker retries.",
  });
}
