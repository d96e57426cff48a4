// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { JsonObject } from "../../../client/mod.ts";
import type { CLOSED_SETS } from "../../../shared/platform/db/closed_sets.ts";
import type { Json } from "../../../client/mod.ts";
import { projectClient, projectSwarm } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { isSignedIn } from "../project/session.ts";
import { listPollMs } from "./user_events.ts";

const REVIEW_COLUMNS =
  "id,task_id,seq,kind,question,context,options,created_at,answered_at,approved,response,comments," +
  "answered_epoch,reopened_at,reopened_by," +
  "task:tasks!inner(id,master_task_id,agent_slug,status,parent_id,epoch,run_after)";

/** A question that a job asks a person. */
export interface Review {
  readonly id: string;
  readonly task_id: string;
  readonly seq: number;
  readonly kind: (typeof CLOSED_SETS.human_reviews.kind)[number];
  readonly question: string;
  readonly context: Json;
  readonly options: Json;
  readonly created_at: string;
  readonly answered_at: string | null;
  readonly approved: boolean | null;
  readonly response: Json;
  readonly comments: string | null;
  readonly answered_epoch: number | null;
  readonly reopened_at: string | null;
  readonly reopened_by: string | null;
  readonly task: {
    readonly id: string;
    readonly master_task_id: string;
    readonly agent_slug: string | null;
    readonly status: string;
    readonly parent_id: string | null;
    readonly epoch: number;
    readonly run_after: string | null;
  };
}

/** Whether the agent has not read the answer yet. A worker that claims the task raises its epoch. */
export function isUnread({ answered_at: at, answered_epoch: epoch, task }: Review): boolean {
  return at !== null && task.status === "pending" && task.epoch === epoch;
}

/** A person's answer. */
export interface ReviewAnswer {
  readonly taskId: string;
  /** The step of the question. */
  readonly seq: number;
  readonly isApproved: boolean;
  readonly response: JsonObject;
  readonly comments: string | null;
  /** How long the agent does not get the answer, so that it can be taken back. */
  readonly holdSeconds: number;
}

/** The maximum number of open questions in the list. */
const REVIEW_LIMIT = 200;
const ANSWERED_LIMIT = 20;
const UNREAD_POLL_MS = 1_000;

/** The open questions, oldest first. */
export function useOpenReviews() {
  return useQuery({
    queryKey: ["reviews", "open"],
    queryFn: async () =>
      dataOf(
        await projectClient().from("human_reviews").select(REVIEW_COLUMNS)
          .is("answered_at", null).order("created_at").limit(REVIEW_LIMIT),
      ) as unknown as Review[],
    refetchInterval: listPollMs,
  });
}

/** The user's latest answers, or those of one job. @param version Changes with the job's events */
export function useAnsweredReviews(jobId: Ref<string | null>, version: Ref<unknown>) {
  const queryKey = computed(() => ["reviews", "answered", jobId.value, version.value]);
  return useQuery({
    queryKey,
    queryFn: async () => {
      let request = projectClient().from("human_reviews").select(REVIEW_COLUMNS)
        .not("answered_at", "is", null).order("answered_at", { ascending: false })
        .limit(ANSWERED_LIMIT);
      if (jobId.value !== null) request = request.eq("task.master_task_id", jobId.value);
      return dataOf(await request) as unknown as Review[];
    },
    placeholderData: (earlier, query) => query?.queryKey[2] === jobId.value ? earlier : undefined,
    // The agent may read one at any moment.
    refetchInterval: ({ state }) => state.data?.some(isUnread) ? UNREAD_POLL_MS : false,
  });
}

/** How a question was closed. */
export interface ReviewOutcome {
  /** Null if its task ended first. */
  readonly approved: boolean | null;
  readonly response: Json;
  readonly comments: string | null;
  readonly created_by: string | null;
  readonly answered_as: (typeof CLOSED_SETS.human_reviews.answered_as)[number] | null;
  readonly client_id: string | null;
  readonly answered_at: string;
}

/** How a question that is no longer open was closed. */
export function useReviewOutcome(id: Ref<string>, isClosed: Ref<boolean>) {
  return useQuery({
    queryKey: computed(() => ["reviews", "outcome", id.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().from("human_reviews")
          .select("approved,response,comments,created_by,answered_as,client_id,answered_at")
          .eq("id", id.value).not("answered_at", "is", null).maybeSingle(),
      ) as ReviewOutcome | null,
    enabled: isClosed,
  });
}

/** The number of open questions, for the navigation. */
export function useOpenReviewCount() {
  return useQuery({
    queryKey: ["reviews", "open_count"],
    queryFn: async () => {
      const answer = await projectClient().from("human_reviews")
        .select("id", { count: "exact", head: true }).is("answered_at", null);
      dataOf({ ...answer, data: true });
      return answer.count ?? 0;
    },
    enabled: computed(() => isSignedIn.value),
    refetchInterval: listPollMs,
  });
}

/** Sends an answer. */
export function useAnswerReview() {
  return useReviewMutation(
    ({ taskId, seq, isApproved, response, comments, holdSeconds }: ReviewAnswer) =>
      projectSwarm().reviews.respond({ task_id: taskId, seq }, {
        approved: isApproved,
        response,
        ...comments !== null && { comments },
        ...holdSeconds > 0 && { holdSeconds },
      }),
  );
}

/** Takes back the answer to the last question of a task. */
export function useReopenReview() {
  return useReviewMutation((taskId: string) => projectSwarm().reviews.reopen(taskId));
}

function useReviewMutation<Variables, Answer>(mutationFn: (given: Variables) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["reviews"] });
      void queries.invalidateQueries({ queryKey: ["jobs"] });
    },
  });
}
