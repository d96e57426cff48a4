// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { isSignedIn, userId } from "../project/session.ts";

const MINUTE_MS = 60_000;

/** Whether the user's own grant has a scope. The database checks it at every request. */
function useOwnScope(scope: string) {
  return useQuery({
    queryKey: computed(() => ["own_scopes", userId.value]),
    queryFn: async () => {
      const grants = dataOf(
        await projectClient().from("mcp_grants").select("scopes")
          .eq("user_id", userId.value).is("client_id", null),
      );
      return grants.flatMap(({ scopes }) => scopes);
    },
    select: (scopes) => scopes.includes(scope) || scopes.includes("admin:*"),
    enabled: computed(() => isSignedIn.value),
    staleTime: MINUTE_MS,
  });
}

/** Whether the user is an operator. */
export function useIsOperator() {
  return useOwnScope("swarm:operate");
}

/** Whether the user may change definitions. */
export function useMayConfigure() {
  return useOwnScope("swarm:configure");
}
