// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { AgentChanges, JsonObject } from "../../../client/mod.ts";
import { projectClient, projectSwarm } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { userId } from "../project/session.ts";
import type { ComparedTask } from "./compared_job.ts";

const MAX_TRIES = 20;
const EARLIER_LIMIT = 10;
const POLL_MS = 1_000;

/** A job that was started in the playground. */
export type Try = Omit<ComparedTask, "input" | "output" | "master_task_id">;

/** What a try runs. */
export interface TryRequest {
  readonly agent: string;
  readonly input: string | JsonObject;
  readonly changes: AgentChanges | null;
}

/**
 * The user's newest tries, the newest first.
 *
 * @param key The id of the task whose input they have, or the slug of their agent.
 */
export function useTries(key: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["tries", key.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().from("tasks").select(
          "id,agent_slug,agent_revision,agent_changes,status,error,created_at,started_at,finished_at",
        ).eq("created_by", userId.value).is("parent_id", null)
          .contains("metadata", { playground: key.value })
          .order("created_at", { ascending: false }).order("id", { ascending: false })
          .limit(MAX_TRIES),
      ) as unknown as readonly Try[],
    refetchInterval: ({ state }) =>
      state.data?.some(({ finished_at: at }) => at === null) ? POLL_MS : false,
  });
}

/** Starts a try, and returns its id. */
export function useStartTry(key: Ref<string>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ agent, input, changes }: TryRequest) => {
      const job = await projectSwarm().run(agent, input, {
        metadata: { playground: key.value },
        ...changes && { agentChanges: changes },
      });
      return job.id;
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["tries"] });
      void queries.invalidateQueries({ queryKey: ["jobs"] });
    },
  });
}

/** The user's latest jobs of an agent, whose inputs can be used again. */
export function useEarlierJobs(agent: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["jobs", "payloads", agent.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().from("tasks").select("id,input,created_at,status")
          .is("parent_id", null).eq("agent_slug", agent.value)
          .order("created_at", { ascending: false }).limit(EARLIER_LIMIT),
      ),
    enabled: computed(() => agent.value !== ""),
  });
}
