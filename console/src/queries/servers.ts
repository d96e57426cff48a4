// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectSwarm } from "../project/project_client.ts";
import { isSignedIn } from "../project/session.ts";

const MINUTE_MS = 60_000;

/** The tool servers with tools that the user may use. */
export function useServers() {
  return useQuery({
    queryKey: ["servers"],
    queryFn: ({ signal }) => projectSwarm().tools.list({ signal }),
    enabled: computed(() => isSignedIn.value),
    staleTime: MINUTE_MS,
  });
}

/** One server, reloaded while it is visible. */
export function useServer(slug: Ref<string | null>) {
  return useQuery({
    queryKey: computed(() => ["server", slug.value]),
    queryFn: ({ signal }) => projectSwarm().tools.describe(slug.value ?? "", { signal }),
    enabled: computed(() => isSignedIn.value && slug.value !== null),
    staleTime: MINUTE_MS,
  });
}
