// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { callFunction } from "../project/call_function.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** A user's grade of a call. */
export interface Grade {
  readonly rating: string | null;
  readonly rating_score: number | null;
  readonly comment: string | null;
}

/** The part of a grade that changes; the rest is kept. */
export interface GradeChange {
  readonly rating?: "up" | "down";
  readonly rating_score?: number;
  readonly comment?: string;
}

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

/** Grades a call, or changes its grade. */
export function useSendGrade(feedbackToken: Ref<string | null>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: GradeChange) =>
      callFunction<Grade>("mcp-feedback", {
        body: { feedback_token: feedbackToken.value, ...change },
      }),
    onSuccess: (grade) => {
      queries.setQueryData(["grade", feedbackToken.value], grade);
      void queries.invalidateQueries({ queryKey: ["calls"] });
    },
  });
}
