import type { Bytes } from "../../bytes.ts";
/** A file of a Git tree. */
export interface TreeFile {
  readonly path: string;
  /** Git's id of the content: SHA-1 over `blob <length>\0<bytes>`. */
  readonly blobSha: string;
  readonly sizeBytes: number;
}

/** What a sync needs to know of a GitHub, and the three questions that a sync asks about a repository. `repo` is `owner/name`. */
export interface GitHub {
  /** Where people see its repositories, such as `https://github.com`. */
  readonly webUrl: string;
  /**
   * The commit that a branch points at now.
   *
   * @throws GITHUB_NOT_FOUND, GITHUB_AUTH_FAILED, GITHUB_RATE_LIMITED, GITHUB_UNAVAILABLE
   */
  headOf(repo: string, branch: string, signal: AbortSignal): Promise<string>;
  /** Every ordinary file of a commit: no symbolic links, no submodules. Throws as `headOf` does. */
  filesOf(repo: string, commitSha: string, signal: AbortSignal): Promise<readonly TreeFile[]>;
  /**
   * The bytes of a blob, verified against its id. Throws as `headOf` does.
   *
   * @throws OUTPUT_TOO_LARGE when it has more than `maxBytes`.
   */
  blobOf(
    repo: string,
    blob: { readonly sha: string; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Bytes>;
}
