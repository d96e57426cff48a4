import { useQueryClient } from "@tanstack/vue-query";
import { computed, onScopeDispose, ref, watch } from "vue";
import { projectSwarm } from "../project/project_client.ts";
import { userId } from "../project/session.ts";
import { changedLists, type ChangingList, createListRefresh } from "./refresh_lists.ts";

/** Changes within this time cause one request. */
const GATHER_MS = 250;
const POLL_MS = 5_000;
/** With a channel, polling only repairs the effect of a lost message. */
const SLOW_POLL_MS = 60_000;

/** True while the user's channel reports changes. */
const joined = ref(false);

/** The polling interval of lists; they do not poll while the page is hidden. */
export const listPollMs = computed(() => (joined.value ? SLOW_POLL_MS : POLL_MS));

/** Follows the user's channel, and reloads lists when jobs or reviews change. */
export function useUserEvents(): void {
  const queries = useQueryClient();
  const refreshes = {
    jobs: createListRefresh(queries, "jobs"),
    reviews: createListRefresh(queries, "reviews"),
  };
  const stale = new Set<ChangingList>();
  let gathering: ReturnType<typeof setTimeout> | undefined;

  function refresh(): void {
    for (const list of stale) void refreshes[list]();
    stale.clear();
  }

  function noteChange(lists: readonly ChangingList[]): void {
    for (const list of lists) stale.add(list);
    if (document.hidden || gathering !== undefined) return;
    gathering = setTimeout(() => {
      gathering = undefined;
      refresh();
    }, GATHER_MS);
  }

  function showAgain(): void {
    if (!document.hidden) refresh();
  }

  document.addEventListener("visibilitychange", showAgain);
  onScopeDispose(() => document.removeEventListener("visibilitychange", showAgain));

  watch(userId, (id, _before, onCleanup) => {
    if (id === "") return;
    const unfollow = projectSwarm().jobs.listen({
      onMessage: (message) => noteChange(changedLists(message)),
      onJoined: (isJoined) => {
        // Reads what happened while the channel was disconnected.
        if (isJoined && !joined.value) noteChange(["jobs", "reviews"]);
        joined.value = isJoined;
      },
    });
    onCleanup(() => {
      joined.value = false;
      clearTimeout(gathering);
      gathering = undefined;
      unfollow();
    });
  }, { immediate: true });
}
