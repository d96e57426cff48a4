import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { mayBeCausedByText } from "../embedders/embedder_error.ts";
import type { EmbeddedPart } from "../embedders/metered_embedder.ts";
import type { ChunkQueue, ClaimedChunk } from "./chunk_store.ts";
import type { SyncEnd, SyncPorts, SyncRun } from "./sync_ports.ts";
import type { ChunkTarget, ClaimedSync } from "./sync_store.ts";
import { splitOptions, toStoredChunk } from "./prepare_file.ts";

/** Texts per claim; an embedder may accept fewer. */
const BATCH_TEXTS = 32;
/** After this time the syncs of other projects get their turn. */
const TURN_MS = 10_000;
/** Wait while other workers hold the rest: about the duration of their request. */
const HELD_WAIT_SECONDS = 15;
/** Estimated CPU time of parsing and serializing a vector. */
const VECTOR_CPU_MS = 0.5;

/**
 * Embeds the pending chunks of a project: first for the current embedder, then for the one that it
 * is switching to.
 *
 * @throws SwarmError if it cannot continue; a limit says how long to wait.
 */
export async function embedChunks(
  sync: ClaimedSync,
  ports: SyncPorts,
  run: SyncRun,
): Promise<SyncEnd> {
  const { project } = sync.context;
  const endsAtMs = ports.clock.nowMs() + TURN_MS;
  const isOver = () => run.budget.isSpent() || ports.clock.nowMs() >= endsAtMs;
  for (const target of [project.embedder, project.nextEmbedder]) {
    if (target === null) continue;
    if (target === project.nextEmbedder) {
      await chunkForNext(sync, target, ports, { budget: run.budget, isOver });
    }
    const queue = { projectId: project.id, embedder: target.name };
    let batchTexts = BATCH_TEXTS;
    while (true) {
      run.signal.throwIfAborted();
      if (isOver()) {
        await ports.store.yield(sync);
        return "yielded";
      }
      const claims = await ports.chunks.claim(queue, batchTexts);
      if (claims.length === 0) break;
      const isTaken = await embedBatch({ sync, target, queue, claims }, ports, run);
      // One of them is rejected: sending each alone shows which one.
      batchTexts = isTaken ? BATCH_TEXTS : 1;
    }
  }
  if (await ports.store.finish(sync, null)) return "finished";
  await ports.store.fail(sync, null, { isRetryable: true, retryAfterSeconds: HELD_WAIT_SECONDS });
  return "waiting";
}

interface Batch {
  readonly sync: ClaimedSync;
  readonly target: ChunkTarget;
  readonly queue: ChunkQueue;
  readonly claims: readonly ClaimedChunk[];
}

/** Returns whether the embedder accepted the texts; throws if it must pause. */
async function embedBatch(
  { sync, target, queue, claims }: Batch,
  ports: SyncPorts,
  { signal, budget }: SyncRun,
): Promise<boolean> {
  const texts = claims.map(({ title, text }) => ({ title, text }));
  let part: EmbeddedPart;
  try {
    const embed = () => ports.embedPart(target.name, texts, signal);
    part = target.runsHere ? await budget.spend(embed) : await embed();
  } catch (error) {
    const isTextSuspected = error instanceof SwarmError && mayBeCausedByText(error);
    const refusal = isTextSuspected && claims.length === 1 ? error.toBody() : null;
    await ports.chunks.giveBack(queue, claims, refusal);
    if (!isTextSuspected) throw error;
    return false;
  }
  const vectors = part.vectors.flatMap((embedding, index) => {
    const claim = claims[index];
    return claim === undefined ? [] : [{ chunkHash: claim.chunkHash, embedding }];
  });
  await ports.chunks.put(queue, vectors);
  budget.charge(vectors.length * VECTOR_CPU_MS);
  await ports.chunks.giveBack(queue, claims.slice(vectors.length), null);
  if (vectors.length > 0) await ports.chunks.count(sync, vectors.length);
  if (part.wait !== null) throw part.wait;
  return true;
}

const SLICE_DOCUMENTS = 8;

/**
 * Splits the documents of a project for the embedder that it is switching to; searches use the old
 * embedder's chunks in the meantime. Stops when `isOver`, and continues with the next call.
 */
async function chunkForNext(
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
