// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { Grade } from "../../../client/mod.ts";
import { projectClient, projectSwarm } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** The grade of a call. */
export function useGrade(feedbackToken: Ref<string | null>) {
  return useQuery({
    queryKey: computed(() => ["grade", feedbackToken.value]),
    queryFn: async () => {
      const rows = dataOf(
        await projectClient().from("mcp_feedback").select("rating,rating_score,comment")
          .eq("feedback_token", feedbackToken.value ?? "").limit(1),
      );
      return rows[0] ?? null;
    },
    enabled: computed(() => feedbackToken.value !== null),
  });
}

/** Grades a call, or changes a part of its grade. */
export function useSendGrade(feedbackToken: Ref<string | null>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: Grade) => projectSwarm().feedback(feedbackToken.value ?? "", change),
    onSuccess: (grade) => {
      queries.setQueryData(["grade", feedbackToken.value], grade);
      void queries.invalidateQueries({ queryKey: ["calls"] });
    },
  });
}
