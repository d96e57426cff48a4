import { asOwner } from "../as_owner.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import type { ProjectState } from "./project_state.ts";

/** A branch seen within this time is not checked; otherwise `check_head()` decides. */
const FRESH_MS = 10 * 60_000;

/** Whether the last check of the branch is so old that it may have moved. */
export function isHeadOld({ freshness }: Pick<ProjectState, "freshness">): boolean {
  const { head_commit: head, head_checked_at: at } = freshness;
  return head !== null && (at === null || Date.parse(at) < Date.now() - FRESH_MS);
}

/**
 * Requests a check of a branch that was not checked recently, because GitHub never repeats a lost
 * delivery. It helps only later searches, so a failure is only logged.
 */
export async function checkOldHead(project: ProjectState, context: ToolContext): Promise<void> {
  if (!isHeadOld(project)) return;
  try {
    await asOwner(context, "write", (sql) => sql`select public.check_head(${project.id}::uuid)`);
  } catch (error) {
    const name = error instanceof Error ? error.name : "unknown";
    context.log("warn", "quoth.head_check_failed", { project_id: project.id, error: name });
  }
}
