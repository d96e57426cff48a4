// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed } from "vue";
import { projectClient, projectSwarm } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { isSignedIn } from "../project/session.ts";

/**
 * The registered servers with the kind of credential that they accept, and what the user has set.
 */
export function useToolAccounts() {
  return useQuery({
    queryKey: ["tool_accounts"],
    queryFn: async () => {
      const client = projectClient();
      const [tools, credentials] = await Promise.all([
        client.from("tools").select("id,slug,name,type,credential_type,credential_description")
          .eq("is_active", true).order("name"),
        client.from("user_tool_credentials").select("tool_id,type,needs_authorization"),
      ]);
      const own = new Map(dataOf(credentials).map((row) => [row.tool_id, row]));
      return dataOf(tools).map((tool) => ({ ...tool, own: own.get(tool.id) ?? null }));
    },
    enabled: computed(() => isSignedIn.value),
  });
}

/** Stores the user's own credential for a server in Vault; null deletes it. */
export function useSetToolCredential() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ slug, secret }: { slug: string; secret: string | null }) => {
      const answer = await projectClient().rpc("set_tool_credential", {
        p_tool_slug: slug,
        p_secret: secret as string,
      });
      dataOf({ ...answer, data: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["tool_accounts"] }),
  });
}

/** Opens the page where the user allows the connection; the answer returns to this page. */
export async function connectAccount(slug: string): Promise<void> {
  const { authorization_url: url } = await projectSwarm().accounts.connect(slug, {
    returnTo: `${location.origin}${location.pathname}`,
  });
  if (!/^https?:\/\//.test(url)) {
    throw new Error("Cannot connect the account: the server returned no sign-in page");
  }
  location.assign(url);
}
