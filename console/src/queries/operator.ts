// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { isSignedIn, userId } from "../project/session.ts";

const OPERATOR_SCOPES = ["swarm:operate", "admin:*"];
const MINUTE_MS = 60_000;

/** Whether the user's grant makes the user an operator. The database checks it at every request. */
export function useIsOperator() {
  return useQuery({
    queryKey: computed(() => ["is_operator", userId.value]),
    queryFn: async () => {
      const grants = dataOf(
        await projectClient().from("mcp_grants").select("scopes")
          .eq("user_id", userId.value).is("client_id", null),
      );
      return grants.some(({ scopes }) => scopes.some((scope) => OPERATOR_SCOPES.includes(scope)));
    },
    enabled: computed(() => isSignedIn.value),
    staleTime: MINUTE_MS,
  });
}
