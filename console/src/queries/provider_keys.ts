// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** The model providers, and for which of them the user has a key. */
export function useProviderKeys() {
  return useQuery({
    queryKey: ["provider_keys"],
    queryFn: async () => {
      const client = projectClient();
      const [providers, keys] = await Promise.all([
        client.from("llm_providers").select("id,name,display_name,requires_api_key")
          .eq("is_active", true).order("display_name"),
        client.from("user_provider_keys").select("provider_id,updated_at"),
      ]);
      const own = new Map(dataOf(keys).map((key) => [key.provider_id, key.updated_at]));
      return dataOf(providers).filter(({ requires_api_key: requires }) => requires)
        .map((provider) => ({ ...provider, keptAt: own.get(provider.id) ?? null }));
    },
  });
}

/** Stores the user's own key for a provider in Vault; null deletes it. */
export function useSetProviderKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ provider, key }: { provider: string; key: string | null }) => {
      const answer = await projectClient().rpc("set_provider_key", {
        p_provider: provider,
        p_secret: key as string,
      });
      dataOf({ ...answer, data: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["provider_keys"] }),
  });
}
