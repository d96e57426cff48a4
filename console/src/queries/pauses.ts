// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref, ref, watch } from "vue";
import type { PausedWork, PauseKind } from "../../../client/mod.ts";
import { projectSwarm } from "../project/project_client.ts";
import { isSignedIn, userId } from "../project/session.ts";

const POLL_MS = 15_000;
/** With a channel, polling only repairs the effect of a lost message. */
const SLOW_POLL_MS = 60_000;
/** A task may begin to wait at any time, which no message tells. */
const JOB_POLL_MS = 10_000;

/** True while the project's channel reports changes. */
const joined = ref(false);

/** What an operator pauses or resumes. */
export interface Pausable {
  readonly kind: PauseKind;
  /** Null for the project. */
  readonly name: string | null;
}

/** Follows the project's channel, and reads what is paused again when it changes. */
export function usePauseEvents(): void {
  const queries = useQueryClient();
  const read = () => void queries.invalidateQueries({ queryKey: ["paused_work"] });
  watch(userId, (id, _before, onCleanup) => {
    if (id === "") return;
    const unfollow = projectSwarm().pauses.listen(read, (isJoined) => {
      // Reads what happened while the channel was disconnected.
      if (isJoined && !joined.value) read();
      joined.value = isJoined;
    });
    onCleanup(() => {
      joined.value = false;
      unfollow();
    });
  }, { immediate: true });
}

/** What is paused, as far as it concerns the user. */
export function usePausedWork() {
  return useQuery({
    queryKey: computed(() => ["paused_work", userId.value]),
    queryFn: ({ signal }) => projectSwarm().pauses.list({ signal }),
    enabled: computed(() => isSignedIn.value),
    refetchInterval: () => (joined.value ? SLOW_POLL_MS : POLL_MS),
  });
}

/** The pause of one thing, or null. */
export function usePauseOf({ kind, name }: Pausable) {
  const { data } = usePausedWork();
  return computed<PausedWork | null>(() =>
    data.value?.find((one) => one.kind === kind && one.name === (name ?? "")) ?? null
  );
}

/** The tasks of a job that wait for a pause. */
export function usePausedTasks(
  jobId: Ref<string>,
  version: Ref<unknown>,
  isActive: Ref<boolean>,
) {
  return useQuery({
    queryKey: computed(() => ["paused_work", "job", jobId.value, version.value]),
    queryFn: ({ signal }) => projectSwarm().pauses.ofJob(jobId.value, { signal }),
    enabled: isActive,
    refetchInterval: JOB_POLL_MS,
    placeholderData: (before) => before,
  });
}

/** Pauses something, with a reason. */
export function usePause() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ kind, name, ...options }: Pausable & {
      readonly reason: string;
      readonly running: PausedWork["running"];
    }) => projectSwarm().pauses.pause(kind, name, options),
    onSettled: () => queries.invalidateQueries({ queryKey: ["paused_work"] }),
  });
}

/** Ends a pause. */
export function useResume() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ kind, name }: Pausable) => projectSwarm().pauses.resume(kind, name || null),
    onSettled: () => queries.invalidateQueries({ queryKey: ["paused_work"] }),
  });
}
