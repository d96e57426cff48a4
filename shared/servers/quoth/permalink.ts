import { encodePath } from "../../quoth/github/github_url.ts";
import type { ProjectState } from "./project_state.ts";

/** Lines of a document at a commit. */
export interface PermalinkTarget {
  readonly filePath: string;
  /** A commit at which the document stands so; null when it was sent directly. */
  readonly commitSha: string | null;
  readonly startLine: number | null;
  readonly endLine: number | null;
}

/**
 * The address on GitHub of these lines as they are indexed; null when no commit is known. It asks
 * for the source (`plain=1`), since rendered Markdown has no lines to point at.
 */
export function permalinkOf(
  { github_url: githubUrl, github_repo: repo, freshness }: Pick<
    ProjectState,
    "github_url" | "github_repo" | "freshness"
  >,
  { filePath, commitSha, startLine, endLine }: PermalinkTarget,
): string | null {
  if (commitSha === null || githubUrl === null || repo === null) return null;
  // Until all documents equal one commit, each stands at its own.
  const commit = freshness.is_behind ? commitSha : freshness.indexed_commit ?? commitSha;
  const lines = startLine === null ? "" : `?plain=1#L${startLine}-L${endLine ?? startLine}`;
  return `${githubUrl}/${repo}/blob/${commit}/${encodePath(filePath)}${lines}`;
}
