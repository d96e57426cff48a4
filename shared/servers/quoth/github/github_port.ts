import type { Bytes } from "../../../platform/values/bytes.ts";
/** A file of a Git tree. */
export interface TreeFile {
  readonly path: string;
  /** Git's id of the content: SHA-1 over `blob <length>\0<bytes>`. */
  readonly blobSha: string;
  readonly sizeBytes: number;
}

/** The GitHub operations that a sync needs. `repo` is `owner/name`. */
export interface GitHub {
  /** URL of its web interface, such as `https://github.com`. */
  readonly webUrl: string;
  /**
   * The commit that a branch points to now.
   *
   * @throws GITHUB_NOT_FOUND, GITHUB_AUTH_FAILED, GITHUB_RATE_LIMITED, GITHUB_UNAVAILABLE
   */
  headOf(repo: string, branch: string, signal: AbortSignal): Promise<string>;
  /** Every regular file of a commit: no symbolic links, no submodules. Throws like `headOf`. */
  filesOf(repo: string, commitSha: string, signal: AbortSignal): Promise<readonly TreeFile[]>;
  /**
   * The bytes of a blob, verified against its id. Throws like `headOf`.
   *
   * @throws OUTPUT_TOO_LARGE if it has more than `maxBytes`.
   */
  blobOf(
    repo: string,
    blob: { readonly sha: string; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Bytes>;
}
