import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { type Chunk, CHUNKER_VERSION, type SplitOptions } from "../markdown/split_markdown.ts";
import type { ReadBlob } from "./blob_reader.ts";
import { isDocumentPath } from "./document_path.ts";
import { MAX_DOCUMENT_BYTES, readDocument, tooLargeError } from "./read_document.ts";
import type { SyncPorts, SyncRun } from "./sync_ports.ts";
import type { ChunkTarget, FileOutcome, StoredChunk, SyncFile } from "./sync_store.ts";

/** A file whose worker died this often is assumed to be the cause. */
const MAX_DELIVERIES = 3;
/** Longer chunks mix topics, even if an embedder accepts more. */
const MAX_CHUNK_TOKENS = 480;

/**
 * The outcome of a file. A problem of the file itself is an outcome; an external problem (GitHub,
 * the network) is thrown.
 */
export async function prepareFile(
  file: SyncFile,
  target: ChunkTarget,
  ports: Pick<SyncPorts, "split"> & { readonly readBlob: ReadBlob } & Pick<SyncRun, "budget">,
): Promise<FileOutcome> {
  if (file.action === "delete" || file.isCurrent) return { kind: "done" };
  const refusal = refusalOf(file);
  if (refusal !== null) return refusal;
  try {
    const content = file.content ?? readDocument(await ports.readBlob(file.blobSha ?? ""));
    return await ports.budget.spend(() => splitFile(file, content, target, ports));
  } catch (error) {
    return refusedBy(error, file);
  }
}

/** The refusal for a problem of the file itself; any other error is rethrown. */
export function refusedBy(error: unknown, file: SyncFile): FileOutcome {
  if (!(error instanceof SwarmError)) throw error;
  switch (error.code) {
    case "FILE_NOT_TEXT":
    case "FILE_UNREADABLE":
    case "FILE_UNAVAILABLE":
    case "DOCUMENT_INVALID":
      return { kind: "refused", error: error.toBody() };
    case "OUTPUT_TOO_LARGE":
      return {
        kind: "refused",
        error: tooLargeError(Math.max(file.sizeBytes, MAX_DOCUMENT_BYTES + 1)),
      };
    default:
      throw error;
  }
}

function refusalOf({ filePath, sizeBytes, deliveries }: SyncFile): FileOutcome | null {
  if (sizeBytes > MAX_DOCUMENT_BYTES) return { kind: "refused", error: tooLargeError(sizeBytes) };
  if (!isDocumentPath(filePath)) {
    return refused(
      "its path has control characters, backslashes, empty parts, invalid Unicode or a fence's tag",
    );
  }
  if (deliveries > MAX_DELIVERIES) {
    return refused(`${MAX_DELIVERIES} workers died while processing it`);
  }
  return null;
}

function refused(problem: string): FileOutcome {
  return { kind: "refused", error: unreadable(problem).toBody() };
}

function unreadable(problem: string, cause?: unknown): SwarmError {
  return new SwarmError("FILE_UNREADABLE", `Cannot index the file: ${problem}`, {
    cause,
    hint: "Change the file, or exclude it with include_globs.",
  });
}

async function splitFile(
  { filePath }: SyncFile,
  content: string,
  target: ChunkTarget,
  { split }: Pick<SyncPorts, "split">,
): Promise<FileOutcome> {
  const document = await split(content, splitOptions(filePath, target)).catch((cause) => {
    throw unreadable("its Markdown cannot be split", cause);
  });
  return {
    kind: "written",
    document: {
      title: document.title,
      content,
      checksum: document.bodyChecksum,
      chunker_version: CHUNKER_VERSION,
      front_matter: document.frontMatter,
    },
    embedder: target.name,
    chunks: document.chunks.map(toStoredChunk),
  };
}

/** Options for splitting a document for an embedder. */
export function splitOptions(filePath: string, { windowTokens }: ChunkTarget): SplitOptions {
  return { filePath, maxTokens: Math.min(MAX_CHUNK_TOKENS, windowTokens) };
}

/** A chunk in the form for `private.replace_document()`. */
export function toStoredChunk(chunk: Chunk): StoredChunk {
  return {
    content: chunk.content,
    embedded_text: chunk.embeddedText,
    chunk_hash: chunk.hash,
    start_line: chunk.startLine,
    end_line: chunk.endLine,
    heading_path: chunk.headingPath,
    anchor: chunk.anchor,
    token_count: chunk.tokenCount,
  };
}
