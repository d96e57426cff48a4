import type { RouteLocationRaw } from "vue-router";

/** The page that tries the agent of a task on its input. */
export function playgroundOf(
  { id, agent_slug: slug }: { readonly id: string; readonly agent_slug: string | null },
): RouteLocationRaw {
  return { path: `/playground/${encodeURIComponent(slug ?? "")}`, query: { job: id } };
}
