// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, onScopeDispose, type Ref, ref, watch } from "vue";
import { stepKey } from "../pages/job/trace/trace_model.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** The most characters of a searched text; the database refuses a longer one. */
export const MOST_SEARCHED = 200;

const PAGE_SIZE = 1_000;
const TYPING_MS = 250;
const POLL_MS = 5_000;

/**
 * Keys of the rows of a job whose inputs, outputs or errors contain a text. The page has only the
 * beginning of each, so the database searches them.
 */
export function useTraceSearch(jobId: Ref<string>, text: Ref<string>, isActive: Ref<boolean>) {
  const wanted = computed(() => text.value.trim());
  const asked = ref(wanted.value);
  let typing: ReturnType<typeof setTimeout> | undefined;
  watch(wanted, (value) => {
    clearTimeout(typing);
    typing = setTimeout(() => (asked.value = value), TYPING_MS);
  });
  onScopeDispose(() => clearTimeout(typing));
  const query = useQuery({
    queryKey: computed(() => ["job", jobId.value, "search", asked.value]),
    queryFn: ({ signal }) => searchTrace(jobId.value, asked.value, signal),
    enabled: computed(() => asked.value !== ""),
    refetchInterval: () => (isActive.value ? POLL_MS : false),
  });
  const isCurrent = computed(() => asked.value === wanted.value);
  return {
    found: computed(() => (isCurrent.value ? query.data.value : undefined)),
    error: query.error,
    isSearching: computed(() => wanted.value !== "" && (!isCurrent.value || query.isLoading.value)),
  };
}

async function searchTrace(
  jobId: string,
  text: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found: { task_id: string; seq: number }[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = dataOf(
      await projectClient().rpc("search_trace", {
        p_master_task_id: jobId,
        p_text: text,
        p_limit: PAGE_SIZE,
        ...(last === undefined ? {} : { p_after: last }),
      }).abortSignal(signal),
    ) as { task_id: string; seq: number }[];
    found.push(...page);
    if (page.length < PAGE_SIZE) break;
  }
  // Number 0 is the task itself.
  return new Set(found.map((row) => row.seq === 0 ? row.task_id : stepKey(row)));
}
