import { computed, type ComputedRef } from "vue";
import { useEvalRuns } from "../queries/evals.ts";
import { useServers } from "../queries/servers.ts";
import { useIsOperator } from "../queries/operator.ts";
import { type NavigationPage, PAGES } from "./pages.ts";

/** The pages that are useful to this user. */
export function useVisiblePages(): ComputedRef<readonly NavigationPage[]> {
  const { data: servers } = useServers();
  const { data: isOperator } = useIsOperator();
  const { data: evalRuns } = useEvalRuns();
  return computed(() =>
    PAGES.filter(({ needs }) => {
      if (needs === "operator") return isOperator.value === true;
      if (needs === "eval_runs") return (evalRuns.value?.length ?? 0) > 0;
      if (needs === "supabase_server") {
        return servers.value?.some(({ slug }) => slug === "supabase") ?? false;
      }
      return true;
    })
  );
}
