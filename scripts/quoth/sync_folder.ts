import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import { CHUNKER_VERSION } from "../../shared/servers/quoth/markdown/split_markdown.ts";
import { z } from "../../shared/vendor/zod.js";
import type { FolderFile } from "./read_folder.ts";

/** The changes of a folder's sync. */
export interface FolderSync {
  /** Null when nothing has changed. */
  readonly syncId: string | null;
  readonly writtenCount: number;
  readonly deletedCount: number;
  readonly unchangedCount: number;
}

const changeRow = z.object({ path: z.string(), action: z.enum(["write", "delete"]) });
const syncRow = z.tuple([z.object({ sync_id: z.string() })]);

/**
 * Queues the changes that make a project's documents equal to the files of a folder. Sends only
 * files that have changed since the last run. Also ends a backoff of the project's syncs.
 *
 * @throws SwarmError PROJECT_NOT_FOUND, DATABASE_UNAVAILABLE, …
 */
export async function syncFolder(
  sql: Sql,
  projectId: string,
  files: readonly FolderFile[],
): Promise<FolderSync> {
  try {
    return await sql.begin(async (transaction) => {
      const listing = files.map(({ path, blobSha }) => ({ path, blob_sha: blobSha }));
      await transaction`select private.resume_syncs(private.hold_project(${projectId}::uuid))`;
      const rows = await transaction`
        select path, action
        from private.folder_changes(
          p_project_id => ${projectId}::uuid,
          p_files => ${sql.json(listing)},
          p_chunker_version => ${CHUNKER_VERSION}
        )`;
      const changes = changeRow.array().parse([...rows]);
      const deletedCount = changes.filter(({ action }) => action === "delete").length;
      const counts = {
        writtenCount: changes.length - deletedCount,
        deletedCount,
        unchangedCount: files.length - (changes.length - deletedCount),
      };
      if (changes.length === 0) return { syncId: null, ...counts };
      const fileOf = new Map(files.map((file) => [file.path, file]));
      const sent = changes.map(({ path }) => ({
        path,
        blob_sha: fileOf.get(path)?.blobSha ?? null,
        content: fileOf.get(path)?.content ?? null,
      }));
      const syncs = await transaction`
        select sync_id from private.receive_files(${projectId}, ${sql.json(sent)})`;
      const [{ sync_id }] = syncRow.parse([...syncs]);
      return { syncId: sync_id, ...counts };
    });
  } catch (error) {
    throw toSwarmError(error, "index the folder");
  }
}
