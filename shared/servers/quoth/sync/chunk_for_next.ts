import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { splitOptions, toStoredChunk } from "./prepare_file.ts";
import type { SyncPorts, SyncRun } from "./sync_ports.ts";
import type { ChunkTarget, ClaimedSync } from "./sync_store.ts";

const SLICE_DOCUMENTS = 8;

/**
 * Splits the documents of a project for the embedder that it is switching to; searches use the old
 * embedder's chunks in the meantime. Stops when `isOver`, and continues with the next call.
 */
export async function chunkForNext(
  sync: ClaimedSync,
  target: ChunkTarget,
  { chunks, split }: Pick<SyncPorts, "chunks" | "split">,
  { budget, isOver }: Pick<SyncRun, "budget"> & { readonly isOver: () => boolean },
): Promise<void> {
  while (!isOver()) {
    const documents = await chunks.documentsToChunk(sync.context.project.id, SLICE_DOCUMENTS);
    if (documents.length === 0) return;
    for (const document of documents) {
      if (isOver()) return;
      const options = splitOptions(document.filePath, target);
      const { chunks: parts } = await budget.spend(() => split(document.content, options))
        .catch((cause) => {
          throw new SwarmError("FILE_UNREADABLE", "Cannot split a document for the next embedder", {
            cause,
            details: { file_path: document.filePath },
          });
        });
      await chunks.addChunks(sync, document, parts.map(toStoredChunk));
    }
  }
}
