import type { Artifact } from "./artifact_storage.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import type { TaskRun } from "./task_run.ts";

/**
 * Stores a file of a task, if its owner's quota allows it.
 *
 * @throws QUOTA_EXCEEDED, STORAGE_UNAVAILABLE
 */
export async function storeArtifact(
  artifact: Artifact,
  { context: { task }, ports }: TaskRun,
): Promise<void> {
  if (task.stored_bytes_left !== null) {
    // Checked again, because other tasks of the owner also store files.
    await ports.store.assertMayStore(task.id, sizeOf(artifact));
  }
  await ports.artifacts.put(artifact);
}

function sizeOf({ body }: Artifact): number {
  return typeof body === "string" ? byteLength(body) : body.byteLength;
}
