import { asOwner } from "../as_owner.ts";
import type { ToolContext } from "../../tool_contracts/internal_server.ts";
import type { ProjectState } from "./project_state.ts";

/** What was seen within this time is not asked for; `check_head()` decides for whom the rest is. */
const FRESH_MS = 10 * 60_000;

/** Whether the branch was last looked at so long ago that it may well have moved. */
export function isHeadOld({ freshness }: Pick<ProjectState, "freshness">): boolean {
  const { head_commit: head, head_checked_at: at } = freshness;
  return head !== null && (at === null || Date.parse(at) < Date.now() - FRESH_MS);
}

/**
 * Asks for a look at a branch that nobody has looked at for long, since GitHub never repeats a
 * lost delivery. Brings nothing to this search but to the next ones; so a failure is only logged.
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
