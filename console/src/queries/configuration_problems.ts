// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { Json } from "../../../client/mod.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { allRows } from "./all_rows.ts";

const POLL_MS = 30_000;
const MAX_ACCOUNTS = 200;

/** A setting with which tasks fail or lack a tool. */
export interface ConfigurationProblem {
  readonly kind: string;
  readonly name: string;
  readonly field: string;
  /** Completes the sentence that begins with the field. */
  readonly problem: string;
  readonly hint: string;
  /** Null: no operator has acknowledged it. */
  readonly acknowledged_at: string | null;
  readonly acknowledged_by: string | null;
  /** Why it is acknowledged. */
  readonly reason: string | null;
}

/** An account that lacks a scope that a tool of its agents needs. */
export interface MissingScope {
  /** Null: the accounts to which the default scopes apply. */
  readonly user_id: string | null;
  readonly email: string | null;
  readonly account_count: number;
}

/** All problems of the configuration. */
export function useConfigurationProblems() {
  return useQuery({
    queryKey: ["operations", "configuration_problems"],
    queryFn: () => {
      const client = projectClient();
      return allRows<ConfigurationProblem>((from, to) =>
        client.from("operator_configuration_problems").select("*", { count: "exact" })
          .order("kind").order("name").order("field").order("problem").range(from, to)
      );
    },
    refetchInterval: POLL_MS,
  });
}

/** Acknowledges problems with a reason, or (null) no longer. */
export function useAcknowledgeProblems() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (
      { problems, reason }: {
        readonly problems: readonly ConfigurationProblem[];
        readonly reason: string | null;
      },
    ) =>
      dataOf(
        await projectClient().rpc("operator_acknowledge_problems", {
          p_problems: problems.map(({ kind, name, field, problem }) => ({
            kind,
            name,
            field,
            problem,
          })) as Json,
          p_reason: reason as string,
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["operations"] }),
  });
}

/** Who lacks a scope, the default first. */
export function useMissingScopes(scope: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["operations", "missing_scopes", scope.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().from("operator_missing_scopes").select("user_id,email,account_count")
          .eq("scope", scope.value).order("email", { nullsFirst: true })
          .order("user_id", { nullsFirst: true }).limit(MAX_ACCOUNTS),
      ) as unknown as readonly MissingScope[],
  });
}
