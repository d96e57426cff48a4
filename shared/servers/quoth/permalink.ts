import { encodePath } from "./github/github_url.ts";
import type { ProjectState } from "./project_state.ts";

/** Lines of a document at a commit. */
export interface PermalinkTarget {
  readonly filePath: string;
  /** A commit that contains this document; null if it was sent directly. */
  readonly commitSha: string | null;
  readonly startLine: number | null;
  readonly endLine: number | null;
}

/**
 * The GitHub URL of these lines as indexed; null if no commit is known. It shows the source
 * (`plain=1`), because rendered Markdown has no line anchors.
 */
export function permalinkOf(
  { github_url: githubUrl, github_repo: repo, freshness }: Pick<
    ProjectState,
    "github_url" | "github_repo" | "freshness"
  >,
  { filePath, commitSha, startLine, endLine }: PermalinkTarget,
): string | null {
  if (commitSha === null || githubUrl === null || repo === null) return null;
  // Until all documents match one commit, each has its own.
  const commit = freshness.is_behind ? commitSha : freshness.indexed_commit ?? commitSha;
  const lines = startLine === null ? "" : `?plain=1#L${startLine}-L${endLine ?? startLine}`;
  return `${githubUrl}/${repo}/blob/${commit}/${encodePath(filePath)}${lines}`;
}
