import { lazily } from "../../../platform/values/lazily.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { GitHub } from "../github/github_port.ts";
import { CHUNKER_VERSION } from "../markdown/split_markdown.ts";
import { createBlobReader, type ReadBlob } from "./blob_reader.ts";
import { createPathFilter } from "./path_filter.ts";
import { prepareFile, refusedBy } from "./prepare_file.ts";
import { MAX_DOCUMENT_BYTES } from "./read_document.ts";
import type { SyncEnd, SyncPorts, SyncRun } from "./sync_ports.ts";
import type { ChunkTarget, ClaimedSync, SyncFile } from "./sync_store.ts";

/** Files that are fetched in parallel and started together. */
const SLICE_FILES = 8;
/** Maximum length of the path column; a longer path cannot be recorded. */
const MAX_PATH_CHARS = 1_024;

/**
 * Makes a project's documents equal to the head of its branch, or applies the files that were sent,
 * file by file, until everything is done or the budget is used up. It can be interrupted anywhere
 * and repeated.
 *
 * @throws SwarmError if it cannot continue.
 */
export async function reconcile(
  sync: ClaimedSync,
  ports: SyncPorts,
  run: SyncRun,
): Promise<SyncEnd> {
  const { kind, project } = sync.context;
  if (project.embedder === null) throw noEmbedder();
  const openGitHub = lazily(async () =>
    ports.openGitHub(await ports.store.githubToken(project.id))
  );
  let { commitSha } = sync.context;
  if (kind === "tree" && commitSha === null) {
    commitSha = await compareTree(sync, await openGitHub(), ports, run);
    if (commitSha === null) return "finished";
  }
  const readBlob = createBlobReader({
    openGitHub,
    // A project without a repository is only sent files.
    repo: project.githubRepo ?? "",
    branch: project.defaultBranch,
    // Files that were sent directly include their text.
    commitSha: commitSha ?? "",
    clock: ports.clock,
    signal: run.signal,
  });
  while (true) {
    const files = await ports.store.begin(sync, SLICE_FILES);
    if (files.length === 0 && await ports.store.finish(sync, null)) return "finished";
    const target = project.embedder;
    const isDone = await applySlice(sync, files, { ...ports, readBlob, target }, run);
    if (!isDone) {
      await ports.store.yield(sync);
      return "yielded";
    }
  }
}

/** The planned commit; null if a check finds the branch unchanged. */
async function compareTree(
  sync: ClaimedSync,
  github: GitHub,
  { store, log }: SyncPorts,
  { signal }: SyncRun,
): Promise<string | null> {
  const { project, reason } = sync.context;
  const { githubRepo, defaultBranch } = project;
  if (githubRepo === null) throw noRepository();
  const head = await github.headOf(githubRepo, defaultBranch, signal);
  // An abandoned sync may have left documents of a commit that is no longer the head.
  const isWhole = project.headCommit === project.indexedCommit && !project.lacksFiles &&
    (project.chunkerVersion ?? CHUNKER_VERSION) === CHUNKER_VERSION;
  if (reason === "head_check" && isWhole && head === project.indexedCommit) {
    await store.finish(sync, head);
    return null;
  }
  const isIncluded = createPathFilter(project.includeGlobs);
  const files = (await github.filesOf(githubRepo, head, signal))
    .filter(({ path }) => path.length <= MAX_PATH_CHARS && isIncluded(path));
  const count = await store.plan(sync, { sha: head, webUrl: github.webUrl }, files);
  log("info", "quoth.tree_compared", {
    sync_id: sync.syncId,
    commit: head,
    files: files.length,
    to_do: count,
  });
  return head;
}

/** Returns whether the whole slice was applied; the rest waits for the next worker. */
async function applySlice(
  sync: ClaimedSync,
  files: readonly SyncFile[],
  ports: SyncPorts & { readonly readBlob: ReadBlob; readonly target: ChunkTarget },
  run: SyncRun,
): Promise<boolean> {
  const blobs = fetchAhead(files, ports.readBlob);
  for (const file of files) {
    run.signal.throwIfAborted();
    if (run.budget.isSpent()) return false;
    const outcome = await prepareFile(file, ports.target, {
      split: ports.split,
      readBlob: (sha) => blobs.get(sha) ?? ports.readBlob(sha),
      budget: run.budget,
    });
    try {
      await ports.store.apply(sync, file.seq, outcome);
    } catch (error) {
      await ports.store.apply(sync, file.seq, refusedBy(asRefusal(error), file));
    }
  }
  return true;
}

/** Starts all downloads of a slice; each is awaited when its file is processed. */
function fetchAhead(
  files: readonly SyncFile[],
  readBlob: ReadBlob,
): Map<string, Promise<Uint8Array>> {
  const blobs = new Map<string, Promise<Uint8Array>>();
  for (const { action, blobSha, content, isCurrent, sizeBytes } of files) {
    const isWanted = action !== "delete" && content === null && !isCurrent;
    if (!isWanted || blobSha === null || sizeBytes > MAX_DOCUMENT_BYTES || blobs.has(blobSha)) {
      continue;
    }
    const blob = readBlob(blobSha);
    // The failure surfaces when it is awaited; it may never be if an earlier file fails.
    blob.catch(() => {});
    blobs.set(blobSha, blob);
  }
  return blobs;
}

/**
 * A database error about a file's values (SQLSTATE classes 22, 23 and 54: bad data, violated
 * constraints, limits such as a text search vector's megabyte) is a problem of the file itself.
 */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof SwarmError) || error.code !== "INTERNAL") return error;
  const { sqlstate } = Object(error.details);
  if (typeof sqlstate !== "string" || !/^(22|23|54)/.test(sqlstate)) return error;
  return new SwarmError(
    "FILE_UNREADABLE",
    `Cannot index the file: the database rejects it (${sqlstate})`,
    {
      cause: error,
      hint: "Change the file, or exclude it with include_globs.",
    },
  );
}

function noRepository(): SwarmError {
  return new SwarmError(
    "PROJECT_SOURCE_MISMATCH",
    "Cannot compare the project with its branch: it has no repository",
  );
}

function noEmbedder(): SwarmError {
  return new SwarmError("EMBEDDER_NOT_FOUND", "Cannot sync: the project has no embedder", {
    hint: "Set projects.embedder to a name of the table embedders.",
  });
}
