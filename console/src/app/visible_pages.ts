import { computed, type ComputedRef } from "vue";
import { useServers } from "../queries/servers.ts";
import { useIsOperator } from "../queries/operator.ts";
import { type NavigationPage, PAGES } from "./pages.ts";

/** The pages that are useful to this user. */
export function useVisiblePages(): ComputedRef<readonly NavigationPage[]> {
  const { data: servers } = useServers();
  const { data: isOperator } = useIsOperator();
  return computed(() =>
    PAGES.filter(({ needs }) => {
      if (needs === "operator") return isOperator.value === true;
      if (needs === "supabase_server") {
        return servers.value?.some(({ slug }) => slug === "supabase") ?? false;
      }
      return true;
    })
  );
}
