import type { ProjectState } from "./project_state.ts";

/** Lines of a document at a commit. */
export interface PermalinkTarget {
  readonly filePath: string;
  /** A commit at which the document stands so; null when it was sent directly. */
  readonly commitSha: string | null;
  readonly startLine: number | null;
  readonly endLine: number | null;
}

/** The address on GitHub of these lines as they are indexed; null when no commit is known. */
export function permalinkOf(
  { github_repo: repo, freshness }: Pick<ProjectState, "github_repo" | "freshness">,
  { filePath, commitSha, startLine, endLine }: PermalinkTarget,
): string | null {
  if (commitSha === null) return null;
  // While a sync runs, a document may be ahead of the commit that all of them equal.
  const isAhead = commitSha === freshness.head_commit;
  const commit = isAhead ? commitSha : freshness.indexed_commit ?? commitSha;
  const path = filePath.split("/").map(encodeURIComponent).join("/");
  const lines = startLine === null ? "" : `#L${startLine}-L${endLine ?? startLine}`;
  return `https://github.com/${repo}/blob/${commit}/${path}${lines}`;
}
