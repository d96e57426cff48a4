import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { Clock } from "../../../platform/isolate/clock.ts";
import { unavailable } from "../github/github_failure.ts";
import type { GitHub } from "../github/github_port.ts";
import { MAX_DOCUMENT_BYTES } from "./read_document.ts";

/** Reads a blob of the project's repository. */
export type ReadBlob = (blobSha: string) => Promise<Uint8Array>;

/** The commit that blobs are read from. */
export interface BlobSource {
  readonly openGitHub: () => Promise<GitHub>;
  /** `owner/name`. */
  readonly repo: string;
  readonly branch: string;
  readonly commitSha: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Delay before an unreadable blob is requested again. */
const PAUSES_MS = [250, 750];
/**
 * Number of small files of which one must be readable; several, because more than one may be
 * broken.
 */
const COMPARED_FILES = 3;

/**
 * Creates the reader of a commit's blobs. An unreadable blob is requested again and then compared
 * with others: the blob itself is considered broken only if others can be read and the commit is
 * still the branch's head.
 *
 * @returns a reader that throws FILE_UNAVAILABLE if only this blob is broken; other errors, as
 * thrown by the methods of `GitHub`, affect all blobs.
 */
export function createBlobReader(source: BlobSource): ReadBlob {
  const { repo, branch, commitSha, clock, signal } = source;
  let readableSha: string | null = null;

  return async (sha) => {
    for (let tries = 0;; tries++) {
      try {
        return await read(sha);
      } catch (error) {
        if (signal.aborted || !mayBeCausedByBlob(error)) throw error;
        const pauseMs = PAUSES_MS[tries];
        if (pauseMs === undefined) throw await blame(sha, error);
        await clock.sleep(pauseMs, signal);
      }
    }
  };

  async function read(sha: string): Promise<Uint8Array> {
    const github = await source.openGitHub();
    const bytes = await github.blobOf(repo, { sha, maxBytes: MAX_DOCUMENT_BYTES }, signal);
    readableSha = sha;
    return bytes;
  }

  /** The error for a blob after the last retry. */
  async function blame(sha: string, cause: SwarmError): Promise<SwarmError> {
    const github = await source.openGitHub();
    const head = await github.headOf(repo, branch, signal);
    if (head !== commitSha) {
      const what = `the commit ${commitSha.slice(0, 12)} of '${repo}'`;
      return unavailable(what, `'${branch}' is at ${head.slice(0, 12)} now`, { cause });
    }
    const others = readableSha === null ? await smallFilesBut(sha, github) : [readableSha];
    const isAlone = others.length === 0 ||
      await Promise.any(others.map(read)).then(() => true, () => false);
    return isAlone ? fileUnavailable(cause) : cause;
  }

  async function smallFilesBut(sha: string, github: GitHub): Promise<readonly string[]> {
    return (await github.filesOf(repo, commitSha, signal))
      .filter(({ blobSha, sizeBytes }) => blobSha !== sha && sizeBytes <= MAX_DOCUMENT_BYTES)
      .sort((a, b) => a.sizeBytes - b.sizeBytes)
      .slice(0, COMPARED_FILES)
      .map(({ blobSha }) => blobSha);
  }
}

/**
 * Whether one blob may have caused an error. An error with a wait time comes from GitHub itself.
 */
function mayBeCausedByBlob(error: unknown): error is SwarmError {
  return error instanceof SwarmError && error.retryAfterSeconds === undefined &&
    (error.code === "GITHUB_NOT_FOUND" || error.code === "GITHUB_UNAVAILABLE");
}

function fileUnavailable(cause: SwarmError): SwarmError {
  return new SwarmError(
    "FILE_UNAVAILABLE",
    `Cannot index the file: GitHub serves other files, but not this one (${cause.message})`,
    { cause, hint: "It is requested again with the next push, or within the hour." },
  );
}
